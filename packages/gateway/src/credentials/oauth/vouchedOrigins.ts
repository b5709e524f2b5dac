import { endpointOriginsOf, entryOf, type IssuerBook } from './issuerBook.ts';
import { isSafeUrl, originOf } from './safeUrl.ts';
import type { SignInTarget } from './signInTarget.ts';

/**
 * The origins that the operator opened for this server: its own, and where its authorization server is as far as the definition or
 * `mcpSettings.issuers` writes that down. `issuer`: the one that is asked; null: the server alone. Whatever the server or its
 * authorization server names besides is somebody else's word, and must not lead to an address that was opened for this one.
 */
export function vouchedOrigins(
  target: SignInTarget,
  book: IssuerBook,
  issuer: string | null,
): readonly string[] {
  const own = originOf(target.url);
  if (issuer === null) return [own];
  const { oauth, isOperators } = target;
  const written = isOperators
    ? [oauth.issuer, oauth.authorizationUrl, oauth.tokenUrl, oauth.revocationUrl]
    : [];
  const listed = entryOf(book, issuer) ? [issuer, ...endpointOriginsOf(book, issuer)] : [];
  return [own, ...[...written, ...listed].filter(isSafeUrl).map(originOf)];
}
