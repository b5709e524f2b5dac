import { scopeList } from '@behalf/contracts';
import { getOrigin } from './addresses.ts';
import { type IssuerSettings, isOriginListed, omitsResource } from './issuers.ts';
import { SignInImpossible, type SignInTarget } from './signInTarget.ts';

const OFFLINE_ACCESS = 'offline_access';

interface ScopeSources {
  /** From the server definition. */
  readonly configured: string | undefined;
  /** From the challenge of the server. */
  readonly challenged: string | undefined;
  /** From the protected resource metadata. */
  readonly published: readonly string[] | null;
  /** From the authorization server metadata. */
  readonly supported: readonly string[] | null;
  /** Required as well: scopes granted before, and scopes that a call was missing. */
  readonly additional?: string | undefined;
}

/** The scopes to request, sorted. Empty: the authorization server chooses. */
export function chooseScopes(sources: ScopeSources): string {
  const { configured, challenged, published, supported, additional = '' } = sources;
  const base = scopeList(configured ?? challenged ?? published?.join(' ') ?? '');
  const all = new Set([...base, ...scopeList(additional)]);
  // On its own, offline_access would replace the default scopes of the authorization server.
  if (all.size > 0 && configured === undefined && supported?.includes(OFFLINE_ACCESS))
    all.add(OFFLINE_ACCESS);
  return [...all].sort().join(' ');
}

export function includesOfflineAccess(scopes: string): boolean {
  return scopeList(scopes).includes(OFFLINE_ACCESS);
}

const MAX_SCOPES = 100;
const MAX_SCOPE_TEXT_LENGTH = 4_096;
/** RFC 6749, section 3.3. */
const SCOPE_TOKEN = /^[!#-[\]-~]+$/;

/** Published scopes. Null if they are malformed or too many: they are sent in a URL, stored with a grant and displayed. */
export function parseScopeNames(value: unknown): readonly string[] | null {
  if (!Array.isArray(value) || value.length > MAX_SCOPES) return null;
  const names = value.filter((name) => typeof name === 'string' && SCOPE_TOKEN.test(name)) as string[];
  return names.length === value.length && names.join(' ').length <= MAX_SCOPE_TEXT_LENGTH ? names : null;
}

/** The `scope` of a challenge, with the same limits. */
export function parseScopeText(text: string | undefined): string | undefined {
  return text === undefined ? undefined : parseScopeNames(scopeList(text))?.join(' ');
}

/** Scopes of OpenID Connect. They apply to the sign-in and name no audience. */
const OPENID_SCOPES = new Set(['openid', 'profile', 'email', 'address', 'phone', 'offline_access']);

/**
 * Without `resource`, only the scopes determine the audience of a token. Each scope must then name one (`api://x/read`,
 * `https://x.example/.default`), unless the operator sets `oauth.audience`. Otherwise the token could be valid at other servers.
 */
export function requireAudience(target: SignInTarget, resource: string | null, scopes: string): void {
  if (resource !== null || (target.isOperatorDefined && target.oauth.audience !== undefined)) return;
  const resourceScopes = scopeList(scopes).filter((scope) => !OPENID_SCOPES.has(scope));
  if (resourceScopes.length === 0 || !resourceScopes.every((scope) => /^[^/].*\/[^/]+$/.test(scope))) {
    throw new SignInImpossible('audience_missing');
  }
}

/** `send`: the published resource identifier. `omit`: no `resource`. `override`: the configured value. */
type ResourceRule =
  { readonly kind: 'send' | 'omit' } | { readonly kind: 'override'; readonly value: string };

/**
 * How `resource` is sent (RFC 8707). Only the operator can change the default. An issuer entry with `omit` applies to servers whose
 * definition names the issuer or that are listed for it, not to servers that merely name the issuer in their metadata.
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

/** The `resource` of the authorization request and of all token requests. Null: none. */
export function resourceToSend(rule: ResourceRule, published: string): string | null {
  if (rule.kind === 'omit') return null;
  return rule.kind === 'override' ? rule.value : published;
}

/** Whether a new sign-in would send the same `resource` as the one that obtained a grant. */
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
