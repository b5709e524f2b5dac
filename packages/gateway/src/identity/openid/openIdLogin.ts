import type { Clock, Fetch, Keyring, Random } from '@behalf/kernel';
import { decodeJwt } from 'jose';
import * as client from 'openid-client';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { Log } from '../../upstream/parts.ts';
import type { SigningKeySource } from './keySource.ts';
import { toLoginFailure } from './loginFailure.ts';
import { createLoginFlows, type FlowGrant, type LoginFlow } from './loginFlow.ts';
import { readLoginSources } from './loginSources.ts';
import type { FederatedTokens } from './loginTokens.ts';
import { createOpenIdClient } from './openIdClient.ts';
import type { OpenIdSettings } from './openIdSettings.ts';
import type { ProviderMetadataSource } from './providerMetadata.ts';
import { toReturnPath } from './returnPath.ts';
import { TokenRefused } from './tokenRefused.ts';
import { readVerifiedIdentity, type VerifiedToken } from './verifiedIdentity.ts';
import { verifyJwt, type VerifiedJwt } from './verifyJwt.ts';

const FLOW_LIFETIME_MS = 10 * 60 * 1000;

export interface StartedLogin {
  /** Where the browser goes. */
  readonly url: string;
  /** For a cookie: what `finish` needs. */
  readonly flow: string;
  readonly expiresAt: number;
}

export interface FinishedLogin {
  readonly verified: VerifiedToken;
  readonly tokens: FederatedTokens;
  readonly returnTo: string;
  /** Whether it was begun with claims: then they are answered. */
  readonly hasClaims: boolean;
  /** For whom the tokens are; absent: for the browser. */
  readonly grant: FlowGrant | undefined;
}

/** Signing in at the provider: authorization code with PKCE, state, nonce and the issuer's name (RFC 9207). */
export interface OpenIdLogin {
  /** `claims`: what the provider wants proven this time (OpenID Connect Core, section 5.5), as JSON. */
  start(
    returnTo: string | undefined,
    options?: { readonly claims?: string | undefined; readonly grant?: FlowGrant | undefined },
  ): Promise<StartedLogin>;
  /** `query` is what the provider sent the browser back with. Rejects with OPENID_FAILED or OPENID_UNAVAILABLE. */
  finish(callback: { readonly flow: string; readonly query: string }): Promise<FinishedLogin>;
  /** Whether a login was begun with claims: of one that cannot be finished nothing else tells. */
  hasRequestedClaims(flow: string): boolean;
}

export interface OpenIdLoginParts {
  readonly settings: OpenIdSettings;
  readonly metadata: ProviderMetadataSource;
  readonly keys: SigningKeySource;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: Random;
  readonly fetch: Fetch;
  /** Our callback as the provider knows it; the port is known only after the start. */
  readonly redirectUri: () => string;
  readonly log: Log;
}

export function createOpenIdLogin(parts: OpenIdLoginParts): OpenIdLogin {
  const { settings, metadata, keys, keyring, clock, random, fetch, redirectUri, log } = parts;
  const { clientId } = settings;
  if (clientId === null) throw new RangeError('A login needs a client id');
  const flows = createLoginFlows({ keyring, clock, settings });
  const randomSecret = () => Buffer.from(random.bytes(32)).toString('base64url');
  const configuration = async () => createOpenIdClient(await metadata.current(), settings, fetch);

  /** The library leaves the signature to TLS; we do not: what a login says makes accounts and administrators. */
  async function verifyIdToken(idToken: string): Promise<VerifiedJwt> {
    const signed = await verifyJwt(idToken, {
      ...{ keys, clock, issuer: settings.issuer },
      audience: [clientId ?? ''],
    });
    if ('azp' in signed.claims && signed.claims.azp !== clientId) throw new TokenRefused('authorized_party');
    return signed;
  }

  async function exchangeCode(flow: LoginFlow, query: string): Promise<FinishedLogin> {
    const config = await configuration();
    const callback = new URL(flow.redirectUri);
    callback.search = query;
    const response = await client.authorizationCodeGrant(config, callback, {
      expectedState: flow.state,
      expectedNonce: flow.nonce,
      pkceCodeVerifier: flow.verifier,
      idTokenExpected: true,
    });
    const { access_token: accessToken, refresh_token: refreshToken, id_token: idToken = '' } = response;
    if (response.token_type !== 'bearer') throw new TokenRefused('key_bound');
    const { claims: id } = await verifyIdToken(idToken);
    const sources = await readLoginSources(
      { settings, keys, clock, log },
      { client: config, accessToken, id },
    );
    // What is signed wins.
    const claims = { ...sources.userinfo, ...id };
    const verified = readVerifiedIdentity({ kind: 'user', claims, sources, settings, log });
    return {
      verified,
      tokens: {
        ...{ issuer: verified.issuer, subject: verified.subject },
        ...{ accessToken, idToken, refreshToken },
        expiresAt: expiryOf(accessToken, response.expires_in, id.exp),
      },
      returnTo: flow.returnTo,
      hasClaims: flow.hasClaims,
      grant: flow.grant,
    };
  }

  /** A token whose end nobody tells ends with the login's own proof. */
  function expiryOf(accessToken: string, expiresIn: number | undefined, idTokenExp: number): number {
    if (expiresIn !== undefined) return clock.now() + expiresIn * 1_000;
    try {
      return (decodeJwt(accessToken).exp ?? idTokenExp) * 1_000;
    } catch {
      return idTokenExp * 1_000;
    }
  }

  return {
    async start(returnTo, { claims, grant } = {}) {
      const config = await configuration();
      const expiresAt = clock.now() + FLOW_LIFETIME_MS;
      const flow: LoginFlow = {
        ...{ state: randomSecret(), nonce: randomSecret(), verifier: randomSecret() },
        ...{ redirectUri: redirectUri(), returnTo: toReturnPath(returnTo), expiresAt },
        hasClaims: claims !== undefined,
        grant,
      };
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: flow.redirectUri,
        scope: settings.scope,
        state: flow.state,
        nonce: flow.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(flow.verifier),
        code_challenge_method: 'S256',
        ...(settings.audience !== null && { audience: settings.audience }),
        ...(claims !== undefined && { claims }),
      });
      return { url: url.href, flow: flows.seal(flow), expiresAt };
    },
    async finish({ flow: sealed, query }) {
      const flow = flows.open(sealed);
      if (!flow) {
        log('openid_login_failed', { reason: 'flow' });
        throw new GatewayError('OPENID_FAILED');
      }
      try {
        return await exchangeCode(flow, query);
      } catch (error) {
        const { gatewayError, reason } = toLoginFailure(error);
        log('openid_login_failed', { reason });
        throw gatewayError;
      }
    },
    hasRequestedClaims: (sealed) => flows.open(sealed)?.hasClaims === true,
  };
}
