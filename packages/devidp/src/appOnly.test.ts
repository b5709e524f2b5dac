import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { clientCredentialsGrant } from 'openid-client';
import { gatewayAudience, closeIdps, createIdpRig, serviceClient } from '../test/idpRig.ts';

const open = { id: 'open', redirectUris: ['http://127.0.0.1:1/open'] };

let rig: Awaited<ReturnType<typeof createIdpRig>>;
beforeAll(async () => void (rig = await createIdpRig({ clients: [serviceClient, open] })));
afterAll(closeIdps);

const expected = () => ({
  iss: rig.idp.issuer,
  sub: serviceClient.id,
  aud: gatewayAudience,
  azp: serviceClient.id,
  client_id: serviceClient.id,
  idtyp: 'app',
  roles: serviceClient.appRoles,
  tid: serviceClient.tenant,
  jti: expect.any(String),
  iat: expect.any(Number),
  exp: expect.any(Number),
});

describe('an app-only token', () => {
  test('names the client and no user, and nothing delegated', async () => {
    const config = await rig.discover(serviceClient);
    for (const request of [{}, { scope: 'access_as_user' }]) {
      const { access_token: token, refresh_token: refresh } = await clientCredentialsGrant(config, request);
      const { payload, protectedHeader } = await rig.verify(token);
      expect(payload).toEqual(expected());
      expect(protectedHeader.typ).toBe('at+jwt');
      expect(refresh).toBeUndefined();
    }
  });

  test('can be minted', async () => {
    expect((await rig.verify(rig.idp.tokens.mintAppOnly())).payload).toEqual(expected());
  });

  test('is given for the secret only', async () => {
    const wrong = await rig.discover({ ...serviceClient, secret: 'guessed' });
    await expect(clientCredentialsGrant(wrong)).rejects.toMatchObject({ error: 'invalid_client' });
    const response = await fetch(`${rig.idp.issuer}/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials', client_id: open.id }),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).not.toHaveProperty('access_token');
  });
});
