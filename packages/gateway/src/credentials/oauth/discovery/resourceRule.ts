import { isListed, omitsResource, type IssuerBook } from '../issuerBook.ts';
import { originOf } from '../safeUrl.ts';
import type { SignInTarget } from '../signInTarget.ts';

/** `send` the server's own name, `omit` it, or send this. */
export type ResourceRule =
  { readonly kind: 'send' | 'omit' } | { readonly kind: 'override'; readonly value: string };

/**
 * RFC 8707: what a server says of itself is sent, unless the operator says otherwise. Nobody else can: that an authorization server is
 * not told is for servers whose definition names it, or that are listed for it, and not for whoever names it in their metadata.
 */
export function resourceRuleOf(target: SignInTarget, book: IssuerBook, issuer: string): ResourceRule {
  const given = target.isOperators ? target.oauth.resource : undefined;
  if (given === 'send' || given === 'omit') return { kind: given };
  if (given !== undefined) return { kind: 'override', value: given };
  const isMeant =
    (target.isOperators && target.oauth.issuer === issuer) ||
    isListed(book, issuer, originOf(target.canonicalUrl));
  return { kind: isMeant && omitsResource(book, issuer) ? 'omit' : 'send' };
}

/** What is sent on all three legs; null: nothing. */
export function resourceToSend(rule: ResourceRule, published: string): string | null {
  if (rule.kind === 'omit') return null;
  return rule.kind === 'override' ? rule.value : published;
}

/** Whether a grant that was asked for with this still is what would be asked for. */
export function isResourceOf(rule: ResourceRule, target: SignInTarget, sent: string | null): boolean {
  if (rule.kind === 'omit') return sent === null;
  if (rule.kind === 'override') return sent === rule.value;
  if (sent === null) return false;
  const [bare = ''] = sent.split('?');
  return bare === target.canonicalUrl || (target.isOperators && sent === originOf(target.canonicalUrl));
}
