/** What the page of evidence says that no run can count: published figures with their source, and how to read ours. */

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
    "Masking halves the cost of a raw agent, and a summary by a model does no better (*The Complexity Trap*). That was at a" +
      " read price of 0.4. The direction holds where reads are dear; where they are cheap, rolling masking costs more than raw, unless it" +
      " keeps the session below a price tier.",
    "The hybrid saves another 7 % over masking and 11 % over summaries (the same authors). Here it pays for each of its" +
      " rolling edits like masking does, on top of its summaries.",
    "*Active Context Compression* (arXiv 2601.07190) reports 22.7 % fewer tokens with the model's own folding, up to 57 % on" +
      " a single task, and one task that grew 2.16-fold. The stand-in here folds by counting and never has to redo work, so" +
      " its saving is an upper bound. Folding in place and folding to the top differ only in what is re-written.",
    "Shortening output before it is first sent saved 14 to 34 % at every price on raw program output. These recordings hold" +
      " output that each agent had shortened already, so less is left for `ingest`.",
  ],
};

export const readingNotes = `Rolling masking and the best in hindsight lie a few points from the simulation (ten where a re-write weighs most), for
reasons that are known: requests are measured as they go over the wire (a block's wrapping is not maskable); a
placeholder keeps the exit status, the last error line and the path; the first observation is never masked; turns that
repeat the one before do not fill the window of ten. Where batches and the economist lie further off, the cache is
why: the simulation's finds every prefix, a real one only an entry within twenty positions of one of four breakpoints,
and a flush that finds none re-writes all. The economist also drops reads that a later edit made stale, so it may beat
the best schedule of masking alone; and it flushes at half the break-even once a session has lasted so long that as many
steps again would pay for the re-write.`;

export const knownLimits = `## What a replay can show, and what it cannot

It repeats recorded actions under another policy. So it shows how large every request would have been, what it would
have cost by the cache's rules and the recorded pauses, and whether an API would have taken it.

- It never shows success. A model that sees less may act otherwise, ask again, or fail; here it does what it did.
- The number of turns is held. Published savings come partly from runs that end sooner or later; these cannot.
- Summaries are mechanical, with 800 tokens of the model's last words in the place of its prose. Folds marked \`-auto\`
  are a stand-in that closes one after every 12 exploratory calls with a list of them; its two extra steps are billed.
- Output is as recorded, or estimated from its text where the recording has too little (Claude Code's counts while it
  streams). Thinking that an edit takes away is not thought again, which on prefix-bound models would cost output.
- Recordings of Claude Code and pi lack the system prompt and the tools: every stack is spared the same tokens.
- What the recorded agent summarised away is put back: all stacks start from the whole conversation.
- Prices are those of the model cards in this version, and a cache entry lives as long as they say.
`;
