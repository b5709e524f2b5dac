import { ConfidentialClientApplication, type Configuration, type INetworkModule } from '@azure/msal-node';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SignJWT, importPKCS8 } from 'jose';
import {
  closeExchangeRigs,
  createExchangeRig,
  mail,
  OBO_SECRET,
  type ExchangeRig,
} from '../../test/exchangeRig.ts';
import { adaUser } from '../../test/idpRig.ts';

let rig: ExchangeRig;
beforeAll(async () => void (rig = await createExchangeRig()));
afterAll(closeExchangeRigs);

/** Microsoft's own library, over a connection that trusts the provider's authority. */
function msal(auth: Partial<Configuration['auth']>) {
  const send = async (url: string, init: RequestInit) => {
    const response = await rig.fetch(url, init);
    const text = await response.text();
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: JSON.parse(text) as never,
    };
  };
  const networkClient: INetworkModule = {
    sendGetRequestAsync: (url, options) => send(url, { headers: options?.headers ?? {} }),
    sendPostRequestAsync: (url, options) =>
      send(url, { method: 'POST', headers: options?.headers ?? {}, body: options?.body ?? '' }),
  };
  return new ConfidentialClientApplication({
    auth: {
      clientId: 'obo',
      authority: rig.entra.authority,
      knownAuthorities: [new URL(rig.entra.authority).host],
      ...auth,
    },
    system: { networkClient },
  });
}

const ask = (client: ConfidentialClientApplication, claims?: string) =>
  client.acquireTokenOnBehalfOf({
    oboAssertion: rig.entra.tokens.mint(),
    scopes: [`${mail.id}/.default`],
    skipCache: true,
    ...(claims !== undefined && { claims }),
  });

describe('Entra’s own library', () => {
  test('exchanges with a secret, a certificate and a federated assertion', async () => {
    const { cert, key, thumbprint } = rig.certificate;
    const ways: Partial<Configuration['auth']>[] = [
      { clientSecret: OBO_SECRET },
      { clientCertificate: { thumbprintSha256: thumbprint, privateKey: key, x5c: cert } },
      { clientAssertion: await rig.externalIssuer.sign() },
    ];
    for (const way of ways) {
      const result = await ask(msal(way));
      expect(await rig.verifyToken(result!.accessToken, mail.audience, rig.entra.issuer)).toMatchObject({
        sub: adaUser.id,
        scp: 'read send',
      });
    }
  });

  test('is refused with another key, issuer, subject or audience', async () => {
    const other = await rig.ca.issueClient('obo');
    const { thumbprint } = rig.certificate;
    const { sign } = rig.externalIssuer;
    const unproven: [Partial<Configuration['auth']>, number][] = [
      [{ clientSecret: 'guessed' }, 7000215],
      [{ clientCertificate: { thumbprintSha256: other.thumbprint, privateKey: other.key } }, 700027],
      [{ clientCertificate: { thumbprintSha256: thumbprint, privateKey: other.key } }, 700027],
      [{ clientAssertion: await sign({ iss: 'https://other.example' }) }, 700211],
      [{ clientAssertion: await sign({ sub: 'other' }) }, 700211],
      [{ clientAssertion: await sign({ aud: 'api://other' }) }, 700027],
    ];
    for (const [way, code] of unproven) {
      await expect(ask(msal(way))).rejects.toMatchObject({
        errorMessage: expect.stringContaining(`AADSTS${code}: `),
      });
    }
  });

  test('signs for this endpoint, for now, and names its certificate', async () => {
    const { cert, key } = rig.certificate;
    const x5t = Buffer.from(rig.certificate.thumbprint, 'hex').toString('base64url');
    expect(cert).toContain('BEGIN CERTIFICATE');
    const assertion = async (claims: Record<string, unknown>, header: Record<string, unknown>) =>
      rig.requestObo({
        client_secret: undefined,
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: await new SignJWT({
          ...{ iss: 'obo', sub: 'obo', aud: rig.entra.tokenEndpoint, ...claims },
        })
          .setProtectedHeader({ alg: 'PS256', 'x5t#S256': x5t, ...header })
          .setExpirationTime((claims.exp as number | undefined) ?? '5m')
          .sign(await importPKCS8(key, 'PS256')),
      });
    expect((await assertion({}, {})).status).toBe(200);
    expect((await assertion({ aud: rig.idp.tokenEndpoint }, {})).body.error_codes).toEqual([700027]);
    expect((await assertion({ sub: 'robot' }, {})).body.error_codes).toEqual([700027]);
    expect((await assertion({}, { 'x5t#S256': undefined })).body.error_codes).toEqual([700027]);
    const past = Math.floor(Date.now() / 1000) - 600;
    expect((await assertion({ exp: past }, {})).body.error_codes).toEqual([700024]);
  });

  test('sees a challenge as a need to interact', async () => {
    const claims = JSON.stringify({ access_token: { acrs: { essential: true, value: 'c9' } } });
    const pending = ask(msal({ clientSecret: OBO_SECRET }), claims);
    await expect(pending).rejects.toMatchObject({
      name: 'InteractionRequiredAuthError',
      errorCode: 'interaction_required',
      claims,
    });
  });
});
