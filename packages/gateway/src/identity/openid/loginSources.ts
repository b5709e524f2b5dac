import type { Clock } from '@behalf/kernel';
import { fetchUserInfo, type Configuration } from 'openid-client';
import type { Log } from '../../upstream/parts.ts';
import type { Claims } from './claims.ts';
import type { SigningKeySource } from './keySource.ts';
import { isRefusal } from './loginFailure.ts';
import type { ClaimSource, OpenIdSettings } from './openIdSettings.ts';
import { TokenRefused } from './tokenRefused.ts';
import { verifyJwt, type VerifiedJwt } from './verifyJwt.ts';

export interface LoginSourceParts {
  readonly settings: OpenIdSettings;
  readonly keys: SigningKeySource;
  readonly clock: Clock;
  readonly log: Log;
}

export interface LoginResponse {
  readonly client: Configuration;
  readonly accessToken: string;
  readonly id: VerifiedJwt['claims'];
}

/** All that the provider says of who has just signed in, by where it says it. */
export async function readLoginSources(
  parts: LoginSourceParts,
  { client, accessToken, id }: LoginResponse,
): Promise<Record<ClaimSource, Claims>> {
  const userinfo = await fetchUserInfoClaims(parts, client, accessToken, id.sub);
  return { id, userinfo, access: await readAccessToken(parts, accessToken) };
}

/** Some providers keep names and roles for this answer. One that refuses it to our token tells nothing. */
async function fetchUserInfoClaims(
  { log }: LoginSourceParts,
  client: Configuration,
  accessToken: string,
  subject: string,
): Promise<Claims> {
  if (client.serverMetadata().userinfo_endpoint === undefined) return {};
  try {
    return await fetchUserInfo(client, accessToken, subject);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    log('openid_userinfo_refused', {});
    return {};
  }
}

/** It may be opaque, or meant for somebody else: then what stands in it says nothing to us. */
async function readAccessToken(
  { settings, keys, clock }: LoginSourceParts,
  accessToken: string,
): Promise<Claims> {
  const { issuer, adminRole, requiredRole, clientId } = settings;
  if (adminRole?.from !== 'access' && requiredRole?.from !== 'access') return {};
  const audience = [settings.audience, clientId, `api://${clientId ?? ''}`].flatMap((name) => name ?? []);
  try {
    return (await verifyJwt(accessToken, { keys, clock, issuer, audience })).claims;
  } catch (error) {
    if (error instanceof TokenRefused) return {};
    throw error;
  }
}
