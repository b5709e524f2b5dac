import { HiddenText } from '@behalf/kernel';
import { GatewayError } from '../../errors/gatewayError.ts';
import {
  toPrincipal,
  type PresentedToken,
  type ServicePrincipal,
  type TokenAuthentication,
} from '../../principal/principal.ts';
import type { ResolvedCaller } from '../callerCache.ts';
import { hashSecret } from '../hashSecret.ts';
import type { BearerVerifier, VerifiedBearer } from './bearerVerifier.ts';
import type { Provisioning } from './provisioning.ts';
import { roleFromToken, type RoleExists } from './roleMapping.ts';
import type { VerifiedToken } from './verifiedIdentity.ts';
import { CLOCK_TOLERANCE_MS } from './verifyJwt.ts';

export interface BearerCallers {
  /** Who shows this token; null when nobody does. Rejects only when it cannot be told. */
  resolve(token: string): Promise<ResolvedCaller | null>;
}

export interface BearerCallerParts {
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
