import type { UpstreamTarget } from '../upstream/target.ts';
import type { UpstreamResponse, JsonObject } from '../upstream/upstream.ts';
import type { Ready } from './obtainCredential.ts';
import { bearerOf } from './recoverFromRefusal.ts';

/** Shorter ones would mask half a sentence and hide nothing. */
const SHORTEST = 8;
const REDACTED = '[redacted]';

/**
 * A server's own words without what it was shown to let us in. Some repeat the key that they refuse, and where the key
 * is the operator's it is not for who calls.
 */
export function maskPresented(text: string, ready: Ready): string {
  const target = 'holder' in ready ? ready.holder.target : ready.server.target;
  const shown = [...presented(target), ...(bearerOf(ready)?.presentedTokens() ?? [])];
  return mask(text, worthMasking(shown));
}

/** All that a server was shown in one conversation, for whoever masks more than one text. */
export function shownTo(target: UpstreamTarget): readonly string[] {
  const tokens = target.type === 'stdio' ? [] : (target.bearer?.presentedTokens() ?? []);
  return worthMasking([...presented(target), ...tokens]);
}

export function mask(text: string, shown: readonly string[]): string {
  return shown.reduce((masked, value) => masked.replaceAll(value, REDACTED), text);
}

/** The longest first: one may hold another. */
function worthMasking(shown: readonly string[]): readonly string[] {
  return [...new Set(shown)].filter((value) => value.length >= SHORTEST).sort((a, b) => b.length - a.length);
}

/**
 * A result without the token that the server was shown for it: a tool that repeats it would hand a user's token to a model, to
 * its provider and to whatever keeps the conversation. Keys of headers stay: they may be what the tool is about, such as a name.
 */
export function maskTokens(answer: UpstreamResponse, ready: Ready): UpstreamResponse {
  const bearer = bearerOf(ready);
  if (!bearer) return answer;
  const text = answer.json ?? JSON.stringify(answer.result);
  // Some writers escape every slash (RFC 8259, section 7).
  const holds = (token: string) => text.includes(token) || text.includes(token.replaceAll('/', '\\/'));
  const found = bearer.presentedTokens().filter((token) => token.length >= SHORTEST && holds(token));
  if (found.length === 0) return answer;
  const masked = found.reduce(
    (rest, token) => rest.replaceAll(token, REDACTED),
    JSON.stringify(answer.result),
  );
  // Whatever else is known of it stays: a question is still one.
  return { ...answer, result: JSON.parse(masked) as JsonObject, json: undefined };
}

/** The same for what a server says before its result: progress, a log message, a question. */
export function maskJson<T extends JsonObject>(said: T, ready: Ready): T {
  const bearer = bearerOf(ready);
  if (!bearer) return said;
  const text = JSON.stringify(said);
  const found = bearer.presentedTokens().filter((token) => token.length >= SHORTEST && text.includes(token));
  if (found.length === 0) return said;
  return JSON.parse(found.reduce((rest, token) => rest.replaceAll(token, REDACTED), text)) as T;
}

function presented(target: UpstreamTarget): string[] {
  if (target.type === 'stdio') return Object.values(target.env);
  const query = [...new URL(target.url).searchParams.values()];
  return [...query, ...Object.values(target.headers).flatMap(headerForms)];
}

/** A key is repeated with its scheme or without, and a password as it was before it was encoded. */
function headerForms(value: string): string[] {
  const [, scheme = '', rest = ''] = /^(\S+) +(.+)$/.exec(value) ?? [];
  if (scheme.toLowerCase() !== 'basic') return [value, rest];
  const decoded = Buffer.from(rest, 'base64').toString();
  return [value, rest, decoded, decoded.slice(decoded.indexOf(':') + 1)];
}
