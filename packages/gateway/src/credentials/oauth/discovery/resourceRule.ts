import { isOriginListed, omitsResource, type IssuerSettings } from '../issuerSettings.ts';
import { getOrigin } from '../safeUrl.ts';
import type { SignInTarget } from '../signInTarget.ts';

/** `send` the server's own name, `omit` it, or send this. */
export type ResourceRule =
  { readonly kind: 'send' | 'omit' } | { readonly kind: 'override'; readonly value: string };

/**
 * RFC 8707: what a server says of itself is sent, unless the operator says otherwise. Nobody else can: that an authorization server is
 * not told is for servers whose definition names it, or that are listed for it, and not for whoever names it in their metadata.
 */
export function resolveResourceRule(
  target: SignInTarget,
  issuerSettings: IssuerSettings,
  issuer: string,
): ResourceRule {
  const configured = target.isOperatorDefined ? target.oauth.resource : undefined;
  if (configured === 'send' || configured === 'omit') return { kind: configured };
  if (configured !== undefined) return { kind: 'override', value: configured };
  const isOperatorApproved =
    (target.isOperatorDefined && target.oauth.issuer === issuer) ||
    isOriginListed(issuerSettings, issuer, getOrigin(target.canonicalUrl));
  return { kind: isOperatorApproved && omitsResource(issuerSettings, issuer) ? 'omit' : 'send' };
}

/** What is sent on all three legs; null: nothing. */
export function resourceToSend(rule: ResourceRule, published: string): string | null {
  if (rule.kind === 'omit') return null;
  return rule.kind === 'override' ? rule.value : published;
}

/** Whether a grant that was asked for with this still is what would be asked for. */
export function isCurrentResource(rule: ResourceRule, target: SignInTarget, sent: string | null): boolean {
  if (rule.kind === 'omit') return sent === null;
  if (rule.kind === 'override') return sent === rule.value;
  if (sent === null) return false;
  const [withoutQuery = ''] = sent.split('?');
  return (
    withoutQuery === target.canonicalUrl ||
    (target.isOperatorDefined && sent === getOrigin(target.canonicalUrl))
  );
}
