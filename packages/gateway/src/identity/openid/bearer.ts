import { type Clock, HiddenText, LruMap } from '@behalf/kernel';
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
  /** The caller with this token; null if the token is invalid. Rejects if the provider or the store does not answer. */
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

/** The subject token for a later token exchange. Hidden, so that logging a caller does not reveal it. */
function toPresentedToken(token: string, { issuer, subject, expiresAt }: VerifiedToken): PresentedToken {
  return Object.freeze({ text: new HiddenText(token), issuer, subject, expiresAt });
}

/** A service has no account and no subject token. Its `userId` contains a colon, which no account id does. */
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

function toSignedInBy(verified: VerifiedBearer): TokenAuthentication {
  const { endpoints, scopes } = verified;
  return { via: 'bearer', scopes, expiresAt: untilOf(verified), ...(endpoints && { endpoints }) };
}

/** The clock tolerance applies to signed tokens only. The introspection response states the expiry by the issuer's clock. */
function untilOf({ expiresAt, checkedUntil }: VerifiedBearer): number {
  return checkedUntil === undefined ? expiresAt + CLOCK_TOLERANCE_MS : expiresAt;
}

const MAX_ENTRIES = 20_000;

interface VerifiedBearer extends VerifiedToken {
  /** The endpoints in its audience; null: the whole gateway. */
  readonly endpoints: readonly string[] | null;
  readonly scopes: readonly string[];
  /** The time of the next introspection. Absent for a signed token. */
  readonly checkedUntil?: number;
}

export interface BearerVerifier {
  /** Rejects with AUTH_TOKEN_INVALID, the same for every reason, or with OPENID_UNAVAILABLE. */
  verify(token: string): Promise<VerifiedBearer>;
}

interface BearerVerifierParts {
  readonly settings: OpenIdSettings;
  readonly keys: SigningKeySource;
  /** For opaque tokens; null: they are refused. */
  readonly introspection: Introspection | null;
  /** Whether an audience is the URL of an MCP endpoint (RFC 8707). Such a token is valid at that endpoint only. */
  readonly isEndpoint: (audience: string) => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** Verifies access tokens of the issuer. The cache holds accepted tokens only, so that guessed tokens cannot evict them. */
export function createBearerVerifier(parts: BearerVerifierParts): BearerVerifier {
  const { settings, keys, introspection, isEndpoint, clock, log } = parts;
  const { issuer, allowedClients } = settings;
  const gatewayAudiences = acceptedAudiences(settings);
  const isAcceptedAudience = (name: string) => gatewayAudiences.includes(name) || isEndpoint(name);
  const cache = new LruMap<string, { readonly verified: VerifiedBearer; readonly keys: KeySet }>(MAX_ENTRIES);

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

  /** Opaque tokens only. An introspection response must not make up for an invalid signature. */
  async function verifyByIntrospection(introspector: Introspection, token: string): Promise<VerifiedBearer> {
    const { claims: introspected, until } = await introspector.introspect(token);
    const claims = checkClaims(introspected, clock, isAcceptedAudience);
    // The provider confirmed that it is an access token (`checkResponse`), so it is treated like one by type.
    return { ...evaluateClaims({ header: { typ: 'at+jwt' }, claims }), checkedUntil: until };
  }

  return {
    async verify(token) {
      const hash = hashSecret(token);
      const cached = cache.get(hash);
      // The entry is valid only while its key set is current. `keys.current()` rejects if the keys are too old.
      if (cached && cached.keys === (await keys.current()) && clock.now() < cached.verified.expiresAt) {
        return cached.verified;
      }
      cache.delete(hash);
      try {
        if (introspection && !isJwt(token)) return await verifyByIntrospection(introspection, token);
        const signed = await verifyJwt(token, { keys, clock, issuer, audience: isAcceptedAudience });
        const verified = evaluateClaims(signed);
        if (clock.now() < verified.expiresAt) cache.set(hash, { verified, keys: signed.keys });
        return verified;
      } catch (error) {
        if (!(error instanceof TokenRefused)) throw error;
        log('bearer_refused', { reason: error.reason });
        throw new GatewayError('AUTH_TOKEN_INVALID');
      }
    },
  };
}

/** The configured audience, or the client id in both forms that Entra issues. */
function acceptedAudiences({ audience, clientId }: OpenIdSettings): readonly string[] {
  if (audience !== null) return [audience];
  if (clientId !== null) return [clientId, `api://${clientId}`];
  throw new RangeError('Bearer tokens need an audience or a client id');
}
