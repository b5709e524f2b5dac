import { createHash } from 'node:crypto';

/** How requests are recorded: tells two secrets apart and leads to neither. */
export function oauthHash(secret: string): string {
  return `sha256:${createHash('sha256').update(secret).digest('base64url')}`;
}

const SECRETS = new Set([
  'refresh_token',
  'token',
  'code',
  'code_verifier',
  'client_secret',
  'client_assertion',
]);

/** The fields of a request without its secrets. A field that came twice is an error of its own, so both are shown. */
export function withoutSecrets(fields: URLSearchParams): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const [name, value] of fields) {
    const safe = SECRETS.has(name) ? oauthHash(value) : value;
    shown[name] = Object.hasOwn(shown, name) ? `${shown[name]} ${safe}` : safe;
  }
  return shown;
}
