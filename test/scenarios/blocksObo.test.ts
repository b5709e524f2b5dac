import type { BlockCheckView, BlockView } from '@behalf/contracts';
import { afterEach, describe, expect, test } from '@jest/globals';
import { answered, check, run } from './blockScene.ts';
import { startOboScene, type OboScene } from './oboScene.ts';
import { createPeople, type Person } from './people.ts';
import { tokenCaller } from './tokenCaller.ts';

describe('a block of a server that is called with exchanged tokens', () => {
  let scene: OboScene | undefined;
  afterEach(async () => {
    await scene?.close();
    scene = undefined;
  });

  test('tells who has no sign-in to exchange before anything is asked of anybody', async () => {
    scene = await startOboScene();
    const ada = tokenCaller(scene.url, scene.token('ada'));
    const saved = await answered<BlockView>(
      ada.send('POST', '/api/mcp/blocks', { server: 'mail', tool: 'whoami' }),
    );
    expect(saved.status).toBe(201);
    const { id } = saved.body;
    const [local] = (await createPeople(scene, ['Local'])) as [Person];
    const updated = [{ type: 'user', id: local.id, accessRoleId: 'mcpServer_viewer' }];
    const shared = { updated, removed: [], public: false };
    expect((await ada.send('PUT', `/api/permissions/block/${id}`, shared)).status).toBe(200);
    scene.idp.requests.clear();
    scene.mail.credentials.clear();
    const need = {
      ...{ kind: 'sign_in', server: 'mail', connectUrl: '/oauth/openid', reason: 'absent', blocks: [id] },
    };
    const refused = await run(local, id);
    expect([refused.status, refused.body.code, refused.body.missing?.credentials]).toMatchObject([
      ...[422, 'BLOCK_INCOMPLETE', [{ needs: [need] }]],
    ]);
    const checked = await check(local, { ids: [id] });
    expect(checked.body).toMatchObject({ runs: false, missing: { credentials: [{ needs: [need] }] } });
    expect([scene.idp.requests.count(), scene.mail.credentials.all().length]).toEqual([0, 0]);
    const own = await answered<BlockCheckView>(ada.send('POST', '/api/mcp/blocks/check', { ids: [id] }));
    expect(own.body.runs).toBe(true);
    expect((await ada.send('POST', `/api/mcp/blocks/${id}/run`, {})).status).toBe(200);
  }, 60_000);
});
