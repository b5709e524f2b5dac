import type { UpstreamTarget } from '../upstream/target.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import type { PreparedTarget } from './credential.ts';
import type { ServerOutcome } from './outcome.ts';
import { getBearer } from './retry.ts';

/** Shorter ones would mask half a sentence and hide nothing. */
const MIN_MASKED_LENGTH = 8;
const REDACTED = '[redacted]';

/**
 * A server's own words without what it was shown to let us in. Some repeat the key that they refuse, and where the key
 * is the operator's it is not for who calls.
 */
export function maskPresentedSecrets(text: string, prepared: PreparedTarget): string {
  const target = 'holder' in prepared ? prepared.holder.target : prepared.server.target;
  const secrets = [...readStaticSecrets(target), ...(getBearer(prepared)?.presentedTokens() ?? [])];
  return redactSecrets(text, selectMaskable(secrets));
}

/** All that a server was shown in one conversation, for whoever masks more than one text. */
export function collectPresentedSecrets(target: UpstreamTarget): readonly string[] {
  const tokens = target.type === 'stdio' ? [] : (target.bearer?.presentedTokens() ?? []);
  return selectMaskable([...readStaticSecrets(target), ...tokens]);
}

export function redactSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((masked, value) => masked.replaceAll(value, REDACTED), text);
}

/** The longest first: one may hold another. */
function selectMaskable(secrets: readonly string[]): readonly string[] {
  return [...new Set(secrets)]
    .filter((value) => value.length >= MIN_MASKED_LENGTH)
    .sort((a, b) => b.length - a.length);
}

/**
 * A result without the token that the server was shown for it: a tool that repeats it would hand a user's token to a model, to
 * its provider and to whatever keeps the conversation. Keys of headers stay: they may be what the tool is about, such as a name.
 */
export function maskTokens<T extends ServerOutcome>(outcome: T, prepared: PreparedTarget): T {
  const bearer = getBearer(prepared);
  if (!bearer) return outcome;
  const json = outcome.kind === 'result' ? outcome.json : undefined;
  const text = json ?? JSON.stringify(outcome.result);
  // Some writers escape every slash (RFC 8259, section 7).
  const containsToken = (token: string) =>
    text.includes(token) || text.includes(token.replaceAll('/', '\\/'));
  const found = bearer
    .presentedTokens()
    .filter((token) => token.length >= MIN_MASKED_LENGTH && containsToken(token));
  if (found.length === 0) return outcome;
  const masked = found.reduce(
    (rest, token) => rest.replaceAll(token, REDACTED),
    JSON.stringify(outcome.result),
  );
  const result = JSON.parse(masked) as JsonObject;
  return { ...outcome, result, ...(outcome.kind === 'result' && { json: undefined }) };
}

/** The same for what a server says before its result: progress, a log message, a question. */
export function maskJson<T extends JsonObject>(value: T, prepared: PreparedTarget): T {
  const bearer = getBearer(prepared);
  if (!bearer) return value;
  const text = JSON.stringify(value);
  const found = bearer
    .presentedTokens()
    .filter((token) => token.length >= MIN_MASKED_LENGTH && text.includes(token));
  if (found.length === 0) return value;
  return JSON.parse(found.reduce((rest, token) => rest.replaceAll(token, REDACTED), text)) as T;
}

function readStaticSecrets(target: UpstreamTarget): string[] {
  if (target.type === 'stdio') return Object.values(target.env);
  const query = [...new URL(target.url).searchParams.values()];
  return [...query, ...Object.values(target.headers).flatMap(listHeaderForms)];
}

/** A key is repeated with its scheme or without, and a password as it was before it was encoded. */
function listHeaderForms(value: string): string[] {
  const [, scheme = '', rest = ''] = /^(\S+) +(.+)$/.exec(value) ?? [];
  if (scheme.toLowerCase() !== 'basic') return [value, rest];
  const decoded = Buffer.from(rest, 'base64').toString();
  return [value, rest, decoded, decoded.slice(decoded.indexOf(':') + 1)];
}
