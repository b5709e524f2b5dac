import { scopeList } from '@behalf/contracts';
import { getOrigin } from './addresses.ts';
import { type IssuerSettings, isOriginListed, omitsResource } from './issuers.ts';
import { SignInImpossible, type SignInTarget } from './signInTarget.ts';

const OFFLINE_ACCESS = 'offline_access';

interface ScopeSources {
  /** Of the definition. */
  readonly configured: string | undefined;
  /** Of the challenge. */
  readonly challenged: string | undefined;
  /** What the server publishes. */
  readonly published: readonly string[] | null;
  /** What the authorization server publishes. */
  readonly supported: readonly string[] | null;
  /** What a sign-in has to reach besides: all that was granted before, and what was missing. */
  readonly additional?: string | undefined;
}

/** What is asked for, sorted; empty: the authorization server decides. */
export function chooseScopes(sources: ScopeSources): string {
  const { configured, challenged, published, supported, additional = '' } = sources;
  const base = scopeList(configured ?? challenged ?? published?.join(' ') ?? '');
  const all = new Set([...base, ...scopeList(additional)]);
  // Alone it would take the place of what the authorization server would choose.
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

/**
 * The scopes that somebody publishes; null where that cannot be believed. They are asked for in an address, kept with a grant and shown
 * to people: who publishes ten thousand of them, or something else than names, is taken to publish none.
 */
export function parseScopeNames(value: unknown): readonly string[] | null {
  if (!Array.isArray(value) || value.length > MAX_SCOPES) return null;
  const names = value.filter((name) => typeof name === 'string' && SCOPE_TOKEN.test(name)) as string[];
  return names.length === value.length && names.join(' ').length <= MAX_SCOPE_TEXT_LENGTH ? names : null;
}

/** The same of a challenge, where they stand in one text. */
export function parseScopeText(text: string | undefined): string | undefined {
  return text === undefined ? undefined : parseScopeNames(scopeList(text))?.join(' ');
}

/** Of OpenID Connect: they are for the sign-in itself, and for no server. */
const OPENID_SCOPES = new Set(['openid', 'profile', 'email', 'address', 'phone', 'offline_access']);

/**
 * Where `resource` is left out, nothing but the scopes says for whom a token is: each must name its audience (`api://x/read`,
 * `https://x.example/.default`), unless the operator names it in `oauth.audience`. One that names none would be good elsewhere.
 */
export function requireAudience(target: SignInTarget, resource: string | null, scopes: string): void {
  if (resource !== null || (target.isOperatorDefined && target.oauth.audience !== undefined)) return;
  const resourceScopes = scopeList(scopes).filter((scope) => !OPENID_SCOPES.has(scope));
  if (resourceScopes.length === 0 || !resourceScopes.every((scope) => /^[^/].*\/[^/]+$/.test(scope))) {
    throw new SignInImpossible('audience_missing');
  }
}

/** `send` the server's own name, `omit` it, or send this. */
type ResourceRule =
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
