import { placeholdersIn, type PlaceholderKind, type Template } from '@behalf/settings';

/** Names under which a key may stand in a configured header. Too many rather than too few. */
const KEY_NAME = /auth|key|token|secret|passw|credential|cookie|session|sig|jwt|\bpat\b|bearer/i;
/** Values that are a credential whatever the header is called. */
const KEY_VALUE = /^\s*(bearer|basic|token|apikey|digest|negotiate)\s/i;
const SECRETS: ReadonlySet<PlaceholderKind> = new Set(['userVar', 'openid', 'graph']);

/** Whether a configured header seems to be there to authenticate somebody. */
export function isKeyHeader(name: string, value: Template): boolean {
  const [first] = value;
  return (
    KEY_NAME.test(name) ||
    (first?.kind === 'literal' && KEY_VALUE.test(first.text)) ||
    placeholdersIn(value).some(({ kind }) => SECRETS.has(kind))
  );
}
