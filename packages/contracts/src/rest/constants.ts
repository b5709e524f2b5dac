export const auditKinds = ['call', 'config', 'permission', 'sign_in', 'credential', 'audit'] as const;
export type AuditKind = (typeof auditKinds)[number];

/** `uncertain`: it may or may not have happened. `asked`: the server asked back, and the caller may come again. */
export const auditOutcomes = ['ok', 'refused', 'failed', 'uncertain', 'asked'] as const;
export type AuditOutcome = (typeof auditOutcomes)[number];

/** The most that one message may have. */
export const MAX_CHAT_TEXT_LENGTH = 100_000;
/** How often a model may come back with further calls, and how many of them run side by side. */
export const MAX_CHAT_ROUNDS = 16;
export const MAX_PARALLEL_CHAT_CALLS = 8;

const MAX_LENGTH = 60;

/** What a conversation is called until somebody renames it: how it began, in one line and cut between words. */
export function createConversationTitle(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  if (line.length <= MAX_LENGTH) return line;
  // Half a pair at the end is no character.
  const truncated = line.slice(0, MAX_LENGTH).replace(/[\uD800-\uDBFF]$/, '');
  const lastSpace = truncated.lastIndexOf(' ');
  return `${lastSpace > MAX_LENGTH / 2 ? truncated.slice(0, lastSpace) : truncated}…`;
}

/** The name of the channel on which a sign-in at a server tells its end, and what keys of `localStorage` begin with. */
export const flowChannel = 'behalf-oauth';

/** Stands in an answer where a secret is, and in a request for the one that is known already. */
export const secretMask = '********';
