import { GatewayError, type ServerSnapshot } from '@behalf/gateway';
import { describe, expect, test } from '@jest/globals';
import { createRegistryRig, createStoredDefinition } from '../../../../packages/gateway/test/registryRig.ts';
import { clientDocumentRoutes } from './clientDocuments.ts';

const BASE = 'https://behalf.example';
const remote = { type: 'streamable-http', url: 'https://mcp.example/mcp' };

/** What stands under `/oauth/client/`, by the name of the file. Null: nothing. */
function documents(servers: readonly ServerSnapshot[], drafts: readonly string[]) {
  const routes = clientDocumentRoutes({
    oauth: { documentKey: { current: never, jwks: never } },
    registry: { listAll: () => servers },
    drafts: { exists: async (id) => drafts.includes(id) },
    baseUrl: () => BASE,
  });
  return async (file: string): Promise<unknown> => {
    const route = routes.find(({ path }) => path === '/oauth/client/:file');
    if (!route || !('handle' in route) || route.access !== 'public') throw new Error('no such route');
    let sent: unknown = null;
    const res = { set: () => res, json: (body: unknown) => void (sent = body) };
    try {
      await route.handle({ params: { file } } as never, res as never);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
    }
    return sent;
  };
}

const never = () => Promise.reject(new Error('not asked'));

describe('what authorization servers read of a draft', () => {
  const { registry } = createRegistryRig(
    { files: { ...remote, requiresOAuth: true } },
    { stored: [createStoredDefinition({ id: 'saved', name: 'mine', definition: remote })] },
  );

  test('is there while the draft is, and then while its server is', async () => {
    const ofDraft = (id: string) => ({
      client_id: `${BASE}/oauth/client/draft~${id}.json`,
      redirect_uris: [`${BASE}/api/mcp/draft~${id}/oauth/callback`],
    });
    const documentOf = documents(registry.listAll(), ['d1']);
    expect(await documentOf('draft~d1.json')).toMatchObject(ofDraft('d1'));
    expect(await documentOf('draft~saved.json')).toMatchObject(ofDraft('saved'));
    // That of the server itself is another.
    expect(await documentOf('saved.json')).toMatchObject({
      redirect_uris: [`${BASE}/api/mcp/mine/oauth/callback`],
    });
    for (const file of ['draft~d2.json', 'd1.json', 'draft~files.json', 'draft~.json', 'draft~d1']) {
      expect([file, await documentOf(file)]).toEqual([file, null]);
    }
    expect(await documents([], [])('draft~saved.json')).toBeNull();
  });
});
