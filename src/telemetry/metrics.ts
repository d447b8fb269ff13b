/** Measurements added up, as OpenTelemetry wants them: since the start of the session. */

import { type Attributes, type Measurement, type MetricName, metrics } from "./span.ts";

/** The sum of one metric for one set of attributes. `buckets`: absent where the metric is a plain sum. */
export type Point = {
  attributes: Attributes;
  sum: number;
  count: number;
  min: number;
  max: number;
  buckets?: number[];
};

/** Most sets of attributes a metric; more would cost memory without end. */
const mostPoints = 200;

/** Adds measurements up. */
export function meter(): {
  add(measurement: Measurement): void;
  points(): ReadonlyMap<MetricName, readonly Point[]>;
} {
  const sums = new Map<MetricName, Map<string, Point>>();
  return {
    add({ metric, value, attributes }) {
      const points = sums.get(metric) ?? new Map<string, Point>();
      sums.set(metric, points);
      const key = JSON.stringify(attributes);
      const { bounds } = metrics[metric];
      const point = points.get(key) ?? {
        ...{ attributes, sum: 0, count: 0, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY },
        ...(bounds ? { buckets: Array.from({ length: bounds.length + 1 }, () => 0) } : {}),
      };
      if (!points.has(key) && points.size >= mostPoints) return;
      points.set(key, point);
      point.sum += value;
      point.count += 1;
      point.min = Math.min(point.min, value);
      point.max = Math.max(point.max, value);
      if (!bounds || !point.buckets) return;
      const index = bounds.findIndex((bound) => value <= bound);
      const place = index < 0 ? bounds.length : index;
      point.buckets[place] = (point.buckets[place] ?? 0) + 1;
    },
    points: () => new Map([...sums].map(([metric, points]) => [metric, [...points.values()]])),
  };
}
