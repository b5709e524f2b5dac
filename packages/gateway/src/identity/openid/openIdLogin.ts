import type { Clock, Fetch, Keyring, Random } from '@behalf/kernel';
import { decodeJwt } from 'jose';
import * as client from 'openid-client';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { Log } from '../../upstream/parts.ts';
import type { KeySource } from './keySource.ts';
import { loginFailure } from './loginFailure.ts';
import { createLoginFlows, type FlowGrant, type LoginFlow } from './loginFlow.ts';
import { loginSources } from './loginSources.ts';
import type { FederatedTokens } from './loginTokens.ts';
import { openIdClient } from './openIdClient.ts';
import type { OpenIdSettings } from './openIdSettings.ts';
import type { ProviderMetadataSource } from './providerMetadata.ts';
import { returnPath } from './returnPath.ts';
import { TokenRefused } from './tokenRefused.ts';
import { verifiedIdentity, type VerifiedToken } from './verifiedIdentity.ts';
import { verifySigned, type Signed } from './verifySigned.ts';

const FLOW_MS = 10 * 60 * 1000;

export interface BegunLogin {
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
  begin(
    returnTo: string | undefined,
    more?: { readonly claims?: string | undefined; readonly grant?: FlowGrant | undefined },
  ): Promise<BegunLogin>;
  /** `query` is what the provider sent the browser back with. Rejects with OPENID_FAILED or OPENID_UNAVAILABLE. */
  finish(callback: { readonly flow: string; readonly query: string }): Promise<FinishedLogin>;
  /** Whether a login was begun with claims: of one that cannot be finished nothing else tells. */
  isWithClaims(flow: string): boolean;
}

export interface OpenIdLoginParts {
  readonly settings: OpenIdSettings;
  readonly metadata: ProviderMetadataSource;
  readonly keys: KeySource;
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
  const secret = () => Buffer.from(random.bytes(32)).toString('base64url');
  const configuration = async () => openIdClient(await metadata.current(), settings, fetch);

  /** The library leaves the signature to TLS; we do not: what a login says makes accounts and administrators. */
  async function checkIdToken(idToken: string): Promise<Signed> {
    const signed = await verifySigned(idToken, {
      ...{ keys, clock, issuer: settings.issuer },
      audience: [clientId ?? ''],
    });
    if ('azp' in signed.claims && signed.claims.azp !== clientId) throw new TokenRefused('authorized_party');
    return signed;
  }

  async function exchange(flow: LoginFlow, query: string): Promise<FinishedLogin> {
    const config = await configuration();
    const callback = new URL(flow.redirectUri);
    callback.search = query;
    const answer = await client.authorizationCodeGrant(config, callback, {
      expectedState: flow.state,
      expectedNonce: flow.nonce,
      pkceCodeVerifier: flow.verifier,
      idTokenExpected: true,
    });
    const { access_token: accessToken, refresh_token: refreshToken, id_token: idToken = '' } = answer;
    if (answer.token_type !== 'bearer') throw new TokenRefused('key_bound');
    const { claims: id } = await checkIdToken(idToken);
    const sources = await loginSources({ settings, keys, clock, log }, { client: config, accessToken, id });
    // What is signed wins.
    const claims = { ...sources.userinfo, ...id };
    const verified = verifiedIdentity({ kind: 'user', claims, sources, settings, log });
    return {
      verified,
      tokens: {
        ...{ issuer: verified.issuer, subject: verified.subject },
        ...{ accessToken, idToken, refreshToken },
        expiresAt: endOf(accessToken, answer.expires_in, id.exp),
      },
      returnTo: flow.returnTo,
      hasClaims: flow.hasClaims,
      grant: flow.grant,
    };
  }

  /** A token whose end nobody tells ends with the login's own proof. */
  function endOf(accessToken: string, expiresIn: number | undefined, idTokenExp: number): number {
    if (expiresIn !== undefined) return clock.now() + expiresIn * 1_000;
    try {
      return (decodeJwt(accessToken).exp ?? idTokenExp) * 1_000;
    } catch {
      return idTokenExp * 1_000;
    }
  }

  return {
    async begin(returnTo, { claims, grant } = {}) {
      const config = await configuration();
      const expiresAt = clock.now() + FLOW_MS;
      const flow: LoginFlow = {
        ...{ state: secret(), nonce: secret(), verifier: secret() },
        ...{ redirectUri: redirectUri(), returnTo: returnPath(returnTo), expiresAt },
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
        return await exchange(flow, query);
      } catch (error) {
        const { answer, reason } = loginFailure(error);
        log('openid_login_failed', { reason });
        throw answer;
      }
    },
    isWithClaims: (sealed) => flows.open(sealed)?.hasClaims === true,
  };
}
