import type { UpstreamTarget } from '../upstream/target.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import { type PreparedTarget, getBearer, getTarget } from './credential.ts';
import type { ServerOutcome } from './outcome.ts';

/** Shorter secrets are not masked: they would match ordinary words. */
const MIN_MASKED_LENGTH = 8;
const REDACTED = '[redacted]';

/**
 * Masks all secrets that the gateway presented to the server, in an error text of the server. Some servers repeat the
 * refused key, and the operator's keys must not reach the caller.
 */
export function maskPresentedSecrets(text: string, prepared: PreparedTarget): string {
  const secrets = [
    ...readStaticSecrets(getTarget(prepared)),
    ...(getBearer(prepared)?.presentedTokens() ?? []),
  ];
  return redactSecrets(text, selectMaskable(secrets));
}

/** All secrets that the gateway presented on a connection, to mask several texts. */
export function collectPresentedSecrets(target: UpstreamTarget): readonly string[] {
  const tokens = target.type === 'stdio' ? [] : (target.bearer?.presentedTokens() ?? []);
  return selectMaskable([...readStaticSecrets(target), ...tokens]);
}

export function redactSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((masked, value) => masked.replaceAll(value, REDACTED), text);
}

/** Longest first, because one secret can contain another. */
function selectMaskable(secrets: readonly string[]): readonly string[] {
  return [...new Set(secrets)]
    .filter((value) => value.length >= MIN_MASKED_LENGTH)
    .sort((a, b) => b.length - a.length);
}

/**
 * Masks the access tokens of the call in the outcome. Otherwise a tool that repeats the token would hand it to the model, the
 * model's provider and the stored conversation. Static header values stay, because they can be legitimate content, such as
 * a user name.
 */
export function maskTokens<T extends ServerOutcome>(outcome: T, prepared: PreparedTarget): T {
  const bearer = getBearer(prepared);
  if (!bearer) return outcome;
  const json = outcome.kind === 'result' ? outcome.json : undefined;
  const text = json ?? JSON.stringify(outcome.result);
  // JSON may escape every slash (RFC 8259, section 7).
  const containsToken = (token: string) =>
    text.includes(token) || text.includes(token.replaceAll('/', '\\/'));
  const found = bearer
    .presentedTokens()
    .filter((token) => token.length >= MIN_MASKED_LENGTH && containsToken(token));
  if (found.length === 0) return outcome;
  const result = JSON.parse(redactSecrets(JSON.stringify(outcome.result), found)) as JsonObject;
  return { ...outcome, result, ...(outcome.kind === 'result' && { json: undefined }) };
}

/** Masks the access tokens of the call in a message that precedes the result: progress, a log message, a request. */
export function maskJson<T extends JsonObject>(value: T, prepared: PreparedTarget): T {
  const bearer = getBearer(prepared);
  if (!bearer) return value;
  const text = JSON.stringify(value);
  const found = bearer
    .presentedTokens()
    .filter((token) => token.length >= MIN_MASKED_LENGTH && text.includes(token));
  return found.length === 0 ? value : (JSON.parse(redactSecrets(text, found)) as T);
}

function readStaticSecrets(target: UpstreamTarget): string[] {
  if (target.type === 'stdio') return Object.values(target.env);
  const query = [...new URL(target.url).searchParams.values()];
  return [...query, ...Object.values(target.headers).flatMap(listHeaderForms)];
}

/** The forms in which a server can repeat a header value: with and without the scheme, and Basic credentials decoded. */
function listHeaderForms(value: string): string[] {
  const [, scheme = '', rest = ''] = /^(\S+) +(.+)$/.exec(value) ?? [];
  if (scheme.toLowerCase() !== 'basic') return [value, rest];
  const decoded = Buffer.from(rest, 'base64').toString();
  return [value, rest, decoded, decoded.slice(decoded.indexOf(':') + 1)];
}
