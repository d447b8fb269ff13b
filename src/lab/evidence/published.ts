/** The fixed parts of the page of evidence: published figures with their source, and how to read ours. */

export const published = {
  /** Input cost against raw, in the order rolling, batches of 20, break-even, (not simulated), optimum. */
  simulation: {
    ".1/1.25": ["+1 %", "-39 %", "-40 %", "", "-42 %"],
    ".05/1.25": ["+46 %", "-32 %", "-33 %", "", "-37 %"],
    ".025/1.25": ["+115 %", "-22 %", "-26 %", "", "-31 %"],
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
one do not count towards the window of ten. Where batches and \`turns\` differ more, the cache is the reason: the
simulated cache finds every prefix, a real one finds only an entry within twenty positions of one of four breakpoints,
and a flush that finds none rewrites everything. \`turns\` also drops reads that a later edit made stale, so it can beat the best schedule of
masking alone. And it flushes at half the break-even once a session has lasted so long that the same number of further steps
would pay for the rewrite. The economist decides by value and turns old steps into lines, so it beats what masking can do at
its best. Its chances were learned from ten of these recordings: \`large-session\` and \`django__django-13265\` were kept out.`;

export const knownLimits = `## What a replay can show, and what it cannot

A replay repeats recorded actions under another policy. It shows how large every request would have been, what it would
have cost by the cache's rules and the recorded pauses, and whether an API would have accepted it.

- It never shows success. A model that sees less may act differently, ask again, or fail; here it does what it did.
- The number of turns is fixed. Published savings come partly from runs that end sooner or later; ours cannot.
- A miss is seen only where the model quoted. What it would have paraphrased, or looked up because it was unsure, is not
  counted; what it quoted from memory alone is counted although it needed nothing.
- Summaries are mechanical, with 800 tokens of the model's last words in place of its prose. Folds marked \`-auto\`
  come from a stand-in that folds after every 12 exploratory calls and lists them; its two extra steps are billed.
- Output tokens are as recorded, or estimated from the text where the recording has too little (Claude Code's counts while
  streaming). Thinking that an edit removes is not thought again, although on prefix-bound models that would cost output.
- Recordings of Claude Code and pi lack the system prompt and the tools, so every stack is spared the same tokens.
- History that the recorded agent summarized away is restored: all stacks start from the whole conversation.
- Prices are those of this version's model cards, and a cache entry lives as long as they say.
`;

export const successPlan = `## How to test that a model does not suffer

No replay can show it; whoever has a key can. The plan is a paired experiment: the same tasks under two stacks, each with a check
as the verdict, repeated, and compared pair by pair. [Batch](batch.md) has the format of tasks and of the comparison.

1. **Tasks.** At least 100 with a \`check\` that fails before and passes only when the work is done, long enough that something is
   forgotten: 60 steps and more. A task that every run solves, or none, tells nothing: try candidates once under \`raw\`, and keep
   those of middling difficulty. Do this before the experiment, never by its results.
2. **Runs.** One file of tasks, one model, the same limits; only \`--context\` differs. Three repetitions of each side, in turn, so
   that a bad day of the API hits both.

\`\`\`sh
sawtooth batch tasks.jsonl --context raw --out results/raw/1
sawtooth batch tasks.jsonl --context economist --out results/economist/1
sawtooth batch compare results/raw results/economist
\`\`\`

3. **Verdict.** Fix beforehand what would be a loss, for example five points of success. The stack is no worse when the lower end
   of the interval lies above that loss; a large p alone shows nothing. McNemar's exact test asks whether the pairs that differ
   could be chance. With repetitions the test by task counts, since runs of one task are alike.
4. **Cost.** Cost per solved task, not per run: it holds re-reads, longer sessions and failures, all of which a replay can only
   estimate. \`sawtooth report\` of each session says what it forgot and asked for again.

Pairs that it takes to see a difference of this size with a chance of 80 % at p < 0.05, if this share of pairs differs
(Connor, Biometrics 43:207, 1987):

| pairs that differ | 5 points | 10 points | 15 points |
| --: | --: | --: | --: |
| 10 % | 312 | 77 | - |
| 20 % | 626 | 155 | 68 |
| 30 % | 940 | 234 | 103 |

The program that compares is tried with scripted models of known success (\`test/cli/compare/\`), its statistics with published
values (\`test/lab/statistics/\`). With a real model it has not been run here: there is no key.
`;
