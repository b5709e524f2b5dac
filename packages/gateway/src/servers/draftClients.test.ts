import { afterEach, describe, expect, test } from '@jest/globals';
import { type SignInServerRigOptions, closeSignInRigs, createSignInServerRig } from '../../test/signInRig.ts';
import { asDraft, buildClientDocument } from '../credentials/oauth/clientDocument.ts';

afterEach(closeSignInRigs);

const BASE = 'https://behalf.example';

/** A server whose user signed in, where authorization servers read who we are. */
async function signedIn(options: SignInServerRigOptions) {
  const rig = await createSignInServerRig({
    baseUrl: BASE,
    ...options,
    authorization: {
      clientDocuments: true,
      registration: false,
      async fetchDocument(url: string): Promise<unknown> {
        if (url === `${BASE}/oauth/jwks.json`) return rig.oauth.documentKey.jwks();
        return buildClientDocument(BASE, rig.allowedServer('files'), 'key');
      },
    },
  });
  expect(await rig.signIn('files')).toMatchObject({ ok: true });
  const record = await rig.store.credentials.find(rig.keyOf('files'));
  if (!record) throw new Error('none');
  const { id } = rig.allowedServer('files');
  /** As it would be, had it been given to the client of this name. */
  const clientOf = async (file: string) => {
    const context = await rig.oauth.contexts.resolve({
      ...record,
      clientId: `${BASE}/oauth/client/${file}.json`,
    });
    return context === 'unbound' ? context : context.client;
  };
  return { ...rig, id, clientOf };
}

describe('the client of a draft', () => {
  test('has a document of its own, which names the callback of the draft', async () => {
    const { allowedServer } = await createSignInServerRig({ isStored: true, baseUrl: BASE });
    const server = allowedServer('files');
    for (const [kind, folder] of [
      ['key', ''],
      ['none', 'public/'],
    ] as const) {
      expect(buildClientDocument(BASE, asDraft(server), kind)).toMatchObject({
        client_id: `${BASE}/oauth/client/${folder}draft~${server.id}.json`,
        redirect_uris: [`${BASE}/api/mcp/draft~${server.id}/oauth/callback`],
      });
    }
  });

  test('renews what it was given, for the server that was made of it alone', async () => {
    const saved = await signedIn({ isStored: true });
    const own = `draft~${saved.id}`;
    expect(await saved.clientOf(own)).toMatchObject({
      ...{ clientId: `${BASE}/oauth/client/${own}.json`, source: 'document' },
      auth: { method: 'private_key_jwt' },
    });
    // Of another draft it is none of ours.
    expect(await saved.clientOf('draft~another')).toMatchObject({ clientId: '' });
    const operators = await signedIn({});
    expect(await operators.clientOf(`draft~${operators.id}`)).toMatchObject({ clientId: '' });
  });
});
