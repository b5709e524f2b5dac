export const auditKinds = ['call', 'config', 'permission', 'sign_in', 'credential', 'audit'] as const;
export type AuditKind = (typeof auditKinds)[number];

/**
 * `uncertain`: it may or may not have taken effect. `asked`: the server requested input, and the caller may
 * continue.
 */
export const auditOutcomes = ['ok', 'refused', 'failed', 'uncertain', 'asked'] as const;
export type AuditOutcome = (typeof auditOutcomes)[number];

/** The maximum length of a message. */
export const MAX_CHAT_TEXT_LENGTH = 100_000;
/** How many rounds of tool calls a model may make, and how many calls run at once. */
export const MAX_CHAT_ROUNDS = 16;
export const MAX_PARALLEL_CHAT_CALLS = 8;

const MAX_LENGTH = 60;

/** The initial title of a conversation: its first words on one line. */
export function createConversationTitle(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  if (line.length <= MAX_LENGTH) return line;
  // Removes an unpaired surrogate at the end.
  const truncated = line.slice(0, MAX_LENGTH).replace(/[\uD800-\uDBFF]$/, '');
  const lastSpace = truncated.lastIndexOf(' ');
  return `${lastSpace > MAX_LENGTH / 2 ? truncated.slice(0, lastSpace) : truncated}…`;
}

/** The name of the BroadcastChannel that reports the end of a sign-in, and the prefix of `localStorage` keys. */
export const flowChannel = 'behalf-oauth';

/** Replaces a secret in responses. In a request, it means the stored secret. */
export const secretMask = '********';
