import { listPlaceholders, type PlaceholderKind, type Template } from '@behalf/settings';

/** Names under which a key may stand in a configured header. Too many rather than too few. */
const CREDENTIAL_NAME = /auth|key|token|secret|passw|credential|cookie|session|sig|jwt|\bpat\b|bearer/i;
/** Values that are a credential whatever the header is called. */
const CREDENTIAL_VALUE = /^\s*(bearer|basic|token|apikey|digest|negotiate)\s/i;
const SECRET_PLACEHOLDERS: ReadonlySet<PlaceholderKind> = new Set(['userVar', 'openid', 'graph']);

/** Whether a configured header seems to be there to authenticate somebody. */
export function isCredentialHeader(name: string, value: Template): boolean {
  const [firstPart] = value;
  return (
    CREDENTIAL_NAME.test(name) ||
    (firstPart?.kind === 'literal' && CREDENTIAL_VALUE.test(firstPart.text)) ||
    listPlaceholders(value).some(({ kind }) => SECRET_PLACEHOLDERS.has(kind))
  );
}
