import type { Clock } from '@behalf/kernel';
import { decodeJwt } from 'jose';
import type { Log } from '../../upstream/upstream.ts';
import type { OpenIdSettings, SigningKeySource } from '../openid/provider.ts';
import {
  type VerifiedIdentityParts,
  type VerifiedToken,
  readVerifiedIdentity,
} from '../openid/verifiedIdentity.ts';
import {
  CLOCK_TOLERANCE_MS,
  type Claims,
  TokenRefused,
  readClaim,
  readTextClaim,
  verifyJwt,
} from '../openid/verifyJwt.ts';
import type { AuthorizationServerRecords } from './authorizationServerRecords.ts';

/** Assertions normally live for minutes. The limit bounds how long the used `jti` is stored. */
const MAX_LIFETIME_MS = 60 * 60 * 1000;

/** The client may act for the user at the endpoint. */
interface AcceptedIdJag {
  readonly verified: VerifiedToken;
  readonly resource: string;
}

/** An issuer that the operator trusts for assertions. */
export interface IdJagIssuer {
  readonly keys: SigningKeySource;
  /** How its claims are read. */
  readonly settings: OpenIdSettings;
  /** Null: the identity provider of the login. Otherwise the tenant whose users this issuer may assert. */
  readonly tenant: string | null;
}

interface IdJagVerifierParts {
  readonly issuers: ReadonlyMap<string, IdJagIssuer>;
  /** The issuer identifier of Behalf's authorization server. */
  readonly audience: () => string;
  readonly isResource: (url: string) => boolean;
  /** The scope of the issued tokens. */
  readonly scope: string;
  readonly records: Pick<AuthorizationServerRecords, 'add'>;
  readonly clock: Clock;
  readonly log: Log;
}

interface IdJagRequest {
  /** The authenticated client of the token request. */
  readonly clientId: string;
  readonly resource?: string | undefined;
}

/** Verifies Identity Assertion JWT Authorization Grants (ID-JAG) at the token endpoint. */
export interface IdJagVerifier {
  /** Null if the assertion is refused; the reason is logged. An assertion is accepted once across all replicas. */
  accept(assertion: string, request: IdJagRequest): Promise<AcceptedIdJag | null>;
}

export function createIdJagVerifier(parts: IdJagVerifierParts): IdJagVerifier {
  const { issuers, audience, isResource, scope, records, clock, log } = parts;

  function findIssuer(assertion: string): IdJagIssuer {
    let claimedIssuer: unknown;
    try {
      claimedIssuer = decodeJwt(assertion).iss;
    } catch {
      throw new TokenRefused('malformed');
    }
    const trusted = typeof claimedIssuer === 'string' ? issuers.get(claimedIssuer) : undefined;
    if (!trusted) throw new TokenRefused('issuer');
    return trusted;
  }

  async function verify(
    assertion: string,
    { clientId, resource: requestedResource }: IdJagRequest,
  ): Promise<AcceptedIdJag> {
    const { keys, settings, tenant } = findIssuer(assertion);
    const { issuer } = settings;
    const { header, claims } = await verifyJwt(assertion, {
      ...{ keys, clock, issuer },
      audience: [audience()],
    });
    if (header['typ'] !== 'oauth-id-jag+jwt') throw new TokenRefused('type');
    // Sender-constrained: without the client's proof, the caller may have stolen it.
    if ('cnf' in claims) throw new TokenRefused('key_bound');
    // With two audiences, one of the servers could replay the assertion at the other.
    if ([claims['aud']].flat().length !== 1) throw new TokenRefused('audience');
    if (!allowsScope(claims['scope'], scope)) throw new TokenRefused('scope');
    if (claims['client_id'] !== clientId) throw new TokenRefused('client');
    const resource = claims['resource'];
    if (typeof resource !== 'string' || !isResource(resource)) throw new TokenRefused('audience');
    if (requestedResource !== undefined && requestedResource !== resource) throw new TokenRefused('audience');
    const jti = readTextClaim(claims, 'jti');
    const expiresAt = claims.exp * 1_000;
    if (jti === '' || expiresAt > clock.now() + MAX_LIFETIME_MS) throw new TokenRefused('malformed');
    const verified = readAssertedIdentity({ claims, settings, tenant, log });
    // The last check, so that an attacker cannot consume an assertion with a request that fails another check.
    const existing = await records.add(
      'IdJag',
      JSON.stringify([issuer, jti]),
      { at: clock.now() },
      { ttlMs: expiresAt - clock.now() + 2 * CLOCK_TOLERANCE_MS },
    );
    if (existing) throw new TokenRefused('replayed');
    return { verified, resource };
  }

  return {
    async accept(assertion, request) {
      try {
        return await verify(assertion, request);
      } catch (error) {
        if (!(error instanceof TokenRefused)) throw error;
        log('id_jag_refused', { reason: error.reason });
        return null;
      }
    },
  };
}

/** Without the claim, Behalf chooses the scope. A claim that excludes this scope must not be widened. */
function allowsScope(claimed: unknown, scope: string): boolean {
  return claimed === undefined || (typeof claimed === 'string' && claimed.split(' ').includes(scope));
}

/** The identity that an issuer asserts without a sign-in. Throws TokenRefused if the issuer may not assert it. */
function readAssertedIdentity({
  claims,
  settings,
  tenant,
  log,
}: Pick<VerifiedIdentityParts, 'claims' | 'log'> & Pick<IdJagIssuer, 'settings' | 'tenant'>): VerifiedToken {
  const readIdentity = (openIdSettings: OpenIdSettings) => {
    const sources = { access: claims, id: claims, userinfo: claims };
    return readVerifiedIdentity({ kind: 'user', claims, sources, settings: openIdSettings, log });
  };
  if (tenant === null) {
    const verified = readIdentity(settings);
    // Most assertions have no role claims. `issuedAt: 0` keeps the role of the last sign-in.
    return hasRoleClaims(claims, settings) ? verified : { ...verified, issuedAt: 0 };
  }
  // The operator configured the role, group and tenant claims for the login's issuer. Another issuer must not set them, or it
  // could choose roles and tenants freely. An assertion that contains the tenant claim is refused instead of ignored.
  const { tenantClaim, allowedTenants } = settings;
  if (tenantClaim !== null && readClaim(claims, tenantClaim) !== undefined) throw new TokenRefused('tenant');
  const verified = readIdentity({
    ...settings,
    ...{ tenantClaim: null, adminRole: null, groupsClaim: null },
    // `tid` exists only at multi-tenant providers.
    allowedTenants: claims['tid'] === undefined ? null : allowedTenants,
  });
  return { ...verified, tenant, roles: [], hasAdminRole: false, issuedAt: 0 };
}

/** Whether all claims that determine the role are present. A part of them could only lower the role. */
function hasRoleClaims(claims: Claims, { roleClaim, adminRole }: OpenIdSettings): boolean {
  const names = adminRole === null ? [roleClaim] : [roleClaim, adminRole.claim];
  return names.every((name) => (readClaim(claims, name) ?? null) !== null);
}
