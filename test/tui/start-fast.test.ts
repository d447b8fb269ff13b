import { expect, test } from "vitest";
import { partOfEmoji } from "../../scripts/start-fast.ts";

test("no emoji lacks the characters by which the built program finds that it has to look closer", () => {
  const emoji = /^\p{RGI_Emoji}$/v;
  const all = Array.from({ length: 0x1_10_00 }, (_, page) => page * 16)
    .flatMap((first) => Array.from({ length: 16 }, (_, index) => String.fromCodePoint(first + index)))
    .filter((sign) => /\p{Emoji}/u.test(sign));
  const alone = all.flatMap((sign) => [sign, `${sign}\ufe0f`, `${sign}\ufe0f\u20e3`]);
  const joined = ["🇩🇪", "👩🏽", "👩‍👩‍👧‍👦", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "❤️‍🔥", "👁️‍🗨️", "#️⃣"];
  const found = [...alone, ...joined].filter((text) => emoji.test(text));
  expect(found.length).toBeGreaterThan(1_300);
  expect(found.filter((text) => !partOfEmoji.test(text))).toEqual([]);
  expect(found).toEqual(expect.arrayContaining(joined));
});
