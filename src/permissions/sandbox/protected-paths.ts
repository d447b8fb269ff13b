/** The sandbox's built-in lists: hidden paths, files that other programs run, files only reported. Pure. */

import { isRunElsewhere } from "../names.ts";

type Hidden = { path: string; except?: readonly string[]; why: string };

/** Lists words. A blank in one is written as one that does not break. */
const lines = (text: string): string[] =>
  text
    .split(/[ \n]+/)
    .filter(Boolean)
    .map((word) => word.replaceAll("\u00a0", " "));

/** Paths below the home that hold keys, tokens or private data. `except`: entries that stay readable. */
const belowHome: readonly Hidden[] = [
  { path: ".ssh", except: ["known_hosts", "config"], why: "ssh keys" },
  ...lines(".gnupg/private-keys-v1.d .gnupg/secring.gpg").map((path) => ({ path, why: "gpg keys" })),
  ...lines(
    `.aws .azure .kube .config/gcloud .config/gh .config/op .config/doctl .config/hub .docker/config.json .netrc
     .git-credentials .config/git/credentials .pgpass .my.cnf .vault-token .terraform.d .terraformrc .password-store
     .local/share/keyrings .local/share/kwalletd Library/Keychains .cargo/credentials .cargo/credentials.toml
     .gem/credentials .m2/settings.xml .gradle/gradle.properties .nuget/NuGet/NuGet.Config .composer/auth.json
     .config/composer/auth.json .config/hub .config/glab-cli .config/rclone .s3cfg .boto .oci .snowflake .databrickscfg
     .huggingface/token .cache/huggingface/token .config/fly .fly .config/netlify .vercel .config/heroku .age .config/sops`,
  ).map((path) => ({ path, why: "credentials" })),
  ...lines(
    `.bash_history .zsh_history .local/share/fish/fish_history .python_history .node_repl_history .psql_history
     .mysql_history .sqlite_history .rediscli_history .lesshst .irb_history .viminfo`,
  ).map((path) => ({ path, why: "a history of commands" })),
  ...lines(
    `.mozilla .thunderbird .config/google-chrome .config/chromium .config/BraveSoftware .config/microsoft-edge
     .config/vivaldi .config/opera snap/firefox snap/chromium Library/Application\u00a0Support/Google/Chrome Library/Safari
     Library/Cookies Library/Mail Library/Messages`,
  ).map((path) => ({ path, why: "the profile of a browser or a mail program" })),
  ...lines(
    `.claude .claude.json .codex .gemini .cursor .config/opencode .local/share/opencode .qwen .crush .config/crush
     .aider.conf.yml .continue .copilot .config/github-copilot .kiro .config/goose`,
  ).map((path) => ({ path, why: "the folder of another agent" })),
];

/** Files of package managers with settings and tokens: shown without the lines that hold tokens. */
export const tokenFiles = [
  ".npmrc",
  ".pypirc",
  ".yarnrc.yml",
  ".config/pip/pip.conf",
  ".pip/pip.conf",
] as const;

const tokenLine =
  /(?:_auth|_authToken|_password|password|token|username|secret|npmAuth\w*)\s*[=:]|:\/\/[^/\s@]+@/i;

/** Returns the text of a file of a package manager without the lines that hold a token. */
export function withoutTokens(text: string): string {
  const kept = text.split("\n").filter((line) => !tokenLine.test(line));
  return kept.join("\n");
}

/** Files of the system that only matter when Sawtooth runs as root. */
const ofSystem = lines(
  `/etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/ssl/private /etc/sudoers /etc/sudoers.d /etc/kubernetes
   /etc/ssh/ssh_host_rsa_key /etc/ssh/ssh_host_ecdsa_key /etc/ssh/ssh_host_ed25519_key /var/lib/docker /var/lib/kubelet
   /var/spool/cron /var/lib/containerd /var/log/journal`,
);

/** The built-in hidden paths, absolute, and the entries in them that stay readable. */
export function builtInHidden(home: string): { path: string; except: string[]; why: string }[] {
  return [
    ...belowHome.map(({ path, except = [], why }) => ({
      path: `${home}/${path}`,
      except: except.map((name) => `${home}/${path}/${name}`),
      why: `built in: ${why}`,
    })),
    ...ofSystem.map((path) => ({ path, except: [], why: "built in: secrets of the system" })),
  ];
}

/** Entries of a git folder that name programs for git, are run by it, or lead to other ones (`commondir`). */
export const gitPrograms = ["hooks", "config", "config.worktree", "info/attributes", "commondir"] as const;

/** Returns true for an entry at the top of a workspace that other programs run, `.git` left out. */
export function isWatched(name: string): boolean {
  return name !== ".git" && name.toLowerCase() !== "head" && isRunElsewhere(name);
}

/** Names watched where they do not exist yet. */
export const watchedNames = lines(
  `.vscode .idea .devcontainer .envrc .husky .githooks .mcp.json .claude .codex .cursor .gemini .agents .sawtooth
   .gitmodules`,
);
