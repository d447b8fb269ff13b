/** The fixed parts of the page of evidence: published figures with their source, and how to read ours. */

export const published = {
  /** Input cost against raw, in the order rolling, batches of 20, break-even, optimum. */
  simulation: {
    ".1/1.25": ["+1 %", "-39 %", "-40 %", "-42 %"],
    ".05/1.25": ["+46 %", "-32 %", "-33 %", "-37 %"],
    ".025/1.25": ["+115 %", "-22 %", "-26 %", "-31 %"],
  } as Readonly<Record<string, readonly string[]>>,
  repriced:
    "On the 499 runs of *The Complexity Trap* (arXiv 2508.21433) rolling masking saves 25 % at the paper's own read price\n" +
    "(r .4, w 1); re-priced with turn counts held it costs 62 % more at (.1, 1), 88 % at (.1, 1.25), 162 % at (.05, 1.25)\n" +
    "and 234 % at (.025, 1.25), where batches by break-even still save 21, 19, 9 and 3 %.",
  findings: [
    "Masking halves the cost of a raw agent, and model-written summaries do no better (*The Complexity" +
      " Trap*). That was at a read price of 0.4. It still holds where reads are expensive; where they are cheap," +
      " rolling masking costs more than raw, unless it keeps the session below a price tier.",
    "The hybrid saves another 7 % over masking and 11 % over summaries (the same authors). Here it pays for" +
      " each rolling edit, as masking does, in addition to its summaries.",
    "*Active Context Compression* (arXiv 2601.07190) reports 22.7 % fewer tokens when the model folds, up to" +
      " 57 % on a single task, and one task that grew 2.16-fold. The stand-in here folds by counting and never" +
      " has to redo work, so its saving is an upper bound. Folding in place and folding to the top differ only" +
      " in how much is rewritten.",
    "Shortening raw program output before it is first sent saved 14 to 34 % at every price. In these" +
      " recordings each agent had already shortened its output, so less is left for `ingest`.",
  ],
};

export const readingNotes = `Our rolling masking and best-in-hindsight figures lie a few points from the simulation (ten where a rewrite costs most), for
known reasons: we measure requests as they are sent, and the wrapping of a block cannot be masked; a placeholder keeps
the exit status, the last error line, and the path; the first observation is never masked; turns that repeat the previous
one do not count towards the window of ten. Where batches and the economist differ more, the cache is the reason: the
simulated cache finds every prefix, a real one finds only an entry within twenty positions of one of four breakpoints,
and a flush that finds none rewrites everything. The economist also drops reads that a later edit made stale, so it can beat
the best schedule of masking alone. And it flushes at half the break-even once a session has lasted so long that the same
number of further steps would pay for the rewrite.`;

export const knownLimits = `## What a replay can show, and what it cannot

A replay repeats recorded actions under another policy. It shows how large every request would have been, what it would
have cost by the cache's rules and the recorded pauses, and whether an API would have accepted it.

- It never shows success. A model that sees less may act differently, ask again, or fail; here it does what it did.
- The number of turns is fixed. Published savings come partly from runs that end sooner or later; ours cannot.
- Summaries are mechanical, with 800 tokens of the model's last words in place of its prose. Folds marked \`-auto\`
  come from a stand-in that folds after every 12 exploratory calls and lists them; its two extra steps are billed.
- Output tokens are as recorded, or estimated from the text where the recording has too little (Claude Code's counts while
  streaming). Thinking that an edit removes is not thought again, although on prefix-bound models that would cost output.
- Recordings of Claude Code and pi lack the system prompt and the tools, so every stack is spared the same tokens.
- History that the recorded agent summarized away is restored: all stacks start from the whole conversation.
- Prices are those of this version's model cards, and a cache entry lives as long as they say.
`;
