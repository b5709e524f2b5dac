import { type Clock, HiddenText } from '@behalf/kernel';
import { GatewayError } from '../../errors/gatewayError.ts';
import {
  type PresentedToken,
  type ServicePrincipal,
  type TokenAuthentication,
  toPrincipal,
} from '../../principal/principal.ts';
import type { Log } from '../../upstream/upstream.ts';
import type { ResolvedCaller } from '../callerCache.ts';
import { hashSecret } from '../hashSecret.ts';
import type { Introspection } from './introspection.ts';
import type { KeySet, OpenIdSettings, SigningKeySource } from './provider.ts';
import type { Provisioning } from './provisioning.ts';
import {
  type RoleExists,
  type VerifiedToken,
  accessTokenKind,
  clientOf,
  readVerifiedIdentity,
  roleFromToken,
  scopesOf,
} from './verifiedIdentity.ts';
import {
  CLOCK_TOLERANCE_MS,
  TokenRefused,
  type VerifiedJwt,
  checkClaims,
  isJwt,
  readAudiences,
  verifyJwt,
} from './verifyJwt.ts';

export interface BearerCallers {
  /** Who shows this token; null when nobody does. Rejects only when it cannot be told. */
  resolve(token: string): Promise<ResolvedCaller | null>;
}

interface BearerCallerParts {
  readonly verifier: BearerVerifier;
  readonly provisioning: Provisioning;
  readonly roleExists: RoleExists;
}

export function createBearerCallers(parts: BearerCallerParts): BearerCallers {
  const { verifier, provisioning, roleExists } = parts;

  async function resolveCaller(
    token: string,
    verified: VerifiedBearer,
  ): Promise<ResolvedCaller['caller'] | null> {
    if (verified.kind === 'service') {
      return verified.isAdmitted
        ? toServicePrincipal(verified, await roleFromToken(verified, roleExists))
        : null;
    }
    const user = await provisioning.userFor(verified);
    const by = { ...toSignedInBy(verified), token: toPresentedToken(token, verified) };
    return user && toPrincipal(user, by, verified.groups);
  }

  return {
    async resolve(token) {
      let verified: VerifiedBearer;
      try {
        verified = await verifier.verify(token);
      } catch (error) {
        if (error instanceof GatewayError && error.code === 'AUTH_TOKEN_INVALID') return null;
        throw error;
      }
      const caller = await resolveCaller(token, verified);
      return caller && { caller, until: verified.checkedUntil ?? untilOf(verified) };
    },
  };
}

/** What can be exchanged for others later. Whoever shows or writes down a caller does not show the token. */
function toPresentedToken(token: string, { issuer, subject, expiresAt }: VerifiedToken): PresentedToken {
  return Object.freeze({ text: new HiddenText(token), issuer, subject, expiresAt });
}

/** No account, so nothing of an account: the name is one that no account's id can be. Nor a token: there is no user. */
function toServicePrincipal(verified: VerifiedBearer, role: string): ServicePrincipal {
  const { tenant, issuer, subject, clientId, groups } = verified;
  return Object.freeze<ServicePrincipal>({
    kind: 'service',
    userId: `service:${hashSecret(JSON.stringify([issuer, subject]))}`,
    tenant,
    role,
    email: '',
    name: clientId || subject,
    issuer,
    groups,
    authentication: toSignedInBy(verified),
  });
}

/** What a token says about where it counts. */
function toSignedInBy(verified: VerifiedBearer): TokenAuthentication {
  const { endpoints, scopes } = verified;
  return { via: 'bearer', scopes, expiresAt: untilOf(verified), ...(endpoints && { endpoints }) };
}

/** Of a token that its issuer was asked about, the end is the issuer's own. */
function untilOf({ expiresAt, checkedUntil }: VerifiedBearer): number {
  return checkedUntil === undefined ? expiresAt + CLOCK_TOLERANCE_MS : expiresAt;
}

const MAX_ENTRIES = 20_000;
/** Its issuer said that it is an access token. */
const INTROSPECTED = { typ: 'at+jwt' };

interface VerifiedBearer extends VerifiedToken {
  /** Which endpoints it was issued for; null: the gateway as a whole. */
  readonly endpoints: readonly string[] | null;
  readonly scopes: readonly string[];
  /** Until when its issuer need not be asked about it again; absent where its signature says everything. */
  readonly checkedUntil?: number;
}

export interface BearerVerifier {
  /** Rejects with AUTH_TOKEN_INVALID, the same for every reason, or with OPENID_UNAVAILABLE. */
  verify(token: string): Promise<VerifiedBearer>;
}

interface BearerVerifierParts {
  readonly settings: OpenIdSettings;
  readonly keys: SigningKeySource;
  /** Asks about what is no JWT; null: such tokens are refused. */
  readonly introspection: Introspection | null;
  /** Whether an audience is the address of an endpoint of ours (RFC 8707): such a token is good there and nowhere else. */
  readonly isEndpoint: (audience: string) => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** Access tokens of the issuer for this gateway. Only what was accepted is remembered: guesses push nobody out. */
export function createBearerVerifier(parts: BearerVerifierParts): BearerVerifier {
  const { settings, keys, introspection, isEndpoint, clock, log } = parts;
  const { issuer, allowedClients } = settings;
  const gatewayAudiences = acceptedAudiences(settings);
  const isAcceptedAudience = (name: string) => gatewayAudiences.includes(name) || isEndpoint(name);
  const cache = new Map<string, { readonly verified: VerifiedBearer; readonly keys: KeySet }>();

  function evaluateClaims({ header, claims }: Pick<VerifiedJwt, 'header' | 'claims'>): VerifiedBearer {
    const kind = accessTokenKind(header, claims);
    if (allowedClients !== null && !allowedClients.includes(clientOf(claims))) {
      throw new TokenRefused('client');
    }
    const sources = { access: claims, id: claims, userinfo: claims };
    const audiences = readAudiences(claims);
    const endpoints = audiences.some((name) => gatewayAudiences.includes(name))
      ? null
      : audiences.filter(isEndpoint);
    const identity = readVerifiedIdentity({ kind, claims, sources, settings, log });
    return { ...identity, endpoints, scopes: scopesOf(claims) };
  }

  function cacheVerified(hash: string, entry: { verified: VerifiedBearer; keys: KeySet }): void {
    cache.delete(hash);
    // The map keeps insertion order: the first one was verified longest ago.
    if (cache.size >= MAX_ENTRIES) cache.delete(cache.keys().next().value ?? '');
    cache.set(hash, entry);
  }

  /** What has the form of a JWT is judged as one: a signature that does not hold is not made good by an answer. */
  async function verifyByIntrospection(introspector: Introspection, token: string): Promise<VerifiedBearer> {
    const { claims: introspected, until } = await introspector.introspect(token);
    const claims = checkClaims(introspected, clock, isAcceptedAudience);
    return { ...evaluateClaims({ header: INTROSPECTED, claims }), checkedUntil: until };
  }

  return {
    async verify(token) {
      const hash = hashSecret(token);
      const cached = cache.get(hash);
      // Keys that changed, or are too old to rely on, end what they once proved.
      if (cached && cached.keys === (await keys.current()) && clock.now() < cached.verified.expiresAt) {
        return cached.verified;
      }
      cache.delete(hash);
      try {
        if (introspection && !isJwt(token)) return await verifyByIntrospection(introspection, token);
        const signed = await verifyJwt(token, { keys, clock, issuer, audience: isAcceptedAudience });
        const verified = evaluateClaims(signed);
        if (clock.now() < verified.expiresAt) cacheVerified(hash, { verified, keys: signed.keys });
        return verified;
      } catch (error) {
        if (!(error instanceof TokenRefused)) throw error;
        log('bearer_refused', { reason: error.reason });
        throw new GatewayError('AUTH_TOKEN_INVALID');
      }
    },
  };
}

/** The one that is named, else the client itself in both forms that Entra writes. */
function acceptedAudiences({ audience, clientId }: OpenIdSettings): readonly string[] {
  if (audience !== null) return [audience];
  if (clientId !== null) return [clientId, `api://${clientId}`];
  throw new RangeError('Bearer tokens need an audience or a client id');
}
