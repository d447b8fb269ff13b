/**
 * Made by `npm run lab`: do not edit. How often a thing was used again in
 * - 0822e04b-5551-4de8-a98a-5660c689e49b
 * - 15a48867-a078-4afc-afaa-c00798fc36e8
 * - 375d5d79-9c13-419d-a5fd-72421f2af713
 * - before-compaction
 * - django__django-12470
 * - django__django-13964
 * - marshmallow-1867
 * - pvlib__pvlib-python-1707
 * - sqlfluff__sqlfluff-1733
 * - sqlfluff__sqlfluff-1763
 * which are of 2025-12-09 to 2026-04-13: 2418 observations and calls, 1471 replies.
 */

import type { Table } from "./table.ts";

export const learned: Table = {
  kinds: {
    read: {
      ages: [0.25, 0.059, 0.02, 0.011, 0.0043, 0.0019, 0.00078, 0.00048, 0.00021],
      sizes: [0.33, 0.52, 0.79, 1.6, 3.6],
    },
    search: {
      ages: [0.047, 0.014, 0.0044, 0.0024, 0.00098, 0.00097, 0.00026, 0.00026, 0.000076],
      sizes: [0.6, 0.97, 1.5, 1, 1],
    },
    test: {
      ages: [0.015, 0.0076, 0.0018, 0.0014, 0.00065, 0.00039, 0.00023, 0.00014, 0.000089],
      sizes: [0.68, 0.54, 0.79, 0.88, 1],
    },
    edit: {
      ages: [0.014, 0.007, 0.0033, 0.00068, 0.00068, 0.0002, 0.00013, 0.000031, 0.000022],
      sizes: [0.15, 2.6, 2.9, 1, 1],
    },
    other: {
      ages: [0.0085, 0.0044, 0.0031, 0.0024, 0.00075, 0.00075, 0.000092, 0.000092, 0.000092],
      sizes: [0.29, 0.85, 1.5, 1.4, 1],
    },
    written: {
      ages: [0.2, 0.061, 0.024, 0.014, 0.0098, 0.002, 0.00096, 0.00048, 0.00017],
      sizes: [0.36, 1.2, 2.6, 1.8, 3.9],
    },
  },
  lifts: { none: 1, fresh: 1.7, renewed: 0.31, failed: 1.2 },
};
