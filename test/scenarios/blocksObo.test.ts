import type { BlockCheckView, BlockView } from '@behalf/contracts';
import { afterEach, describe, expect, test } from '@jest/globals';
import { readResponse, checkBlock, runBlock } from './blockRig.ts';
import { startOboRig, type OboRig } from './oboRig.ts';
import { createUsers, type TestUser } from './users.ts';
import { createTokenCaller } from './tokenCaller.ts';

describe('a block of a server that is called with exchanged tokens', () => {
  let rig: OboRig | undefined;
  afterEach(async () => {
    await rig?.close();
    rig = undefined;
  });

  test('tells who has no sign-in to exchange before anything is asked of anybody', async () => {
    rig = await startOboRig();
    const ada = createTokenCaller(rig.url, rig.mintToken('ada'));
    const saved = await readResponse<BlockView>(
      ada.send('POST', '/api/mcp/blocks', { server: 'mail', tool: 'whoami' }),
    );
    expect(saved.status).toBe(201);
    const { id } = saved.body;
    const [local] = (await createUsers(rig, ['Local'])) as [TestUser];
    const updated = [{ type: 'user', id: local.id, accessRoleId: 'mcpServer_viewer' }];
    const shared = { updated, removed: [], public: false };
    expect((await ada.send('PUT', `/api/permissions/block/${id}`, shared)).status).toBe(200);
    rig.idp.requestLog.clear();
    rig.mail.credentials.clear();
    const need = {
      ...{ kind: 'sign_in', server: 'mail', connectUrl: '/oauth/openid', reason: 'absent', blocks: [id] },
    };
    const refused = await runBlock(local, id);
    expect([refused.status, refused.body.code, refused.body.missing?.credentials]).toMatchObject([
      ...[422, 'BLOCK_INCOMPLETE', [{ needs: [need] }]],
    ]);
    const checked = await checkBlock(local, { ids: [id] });
    expect(checked.body).toMatchObject({ runs: false, missing: { credentials: [{ needs: [need] }] } });
    expect([rig.idp.requestLog.count(), rig.mail.credentials.all().length]).toEqual([0, 0]);
    const own = await readResponse<BlockCheckView>(ada.send('POST', '/api/mcp/blocks/check', { ids: [id] }));
    expect(own.body.runs).toBe(true);
    expect((await ada.send('POST', `/api/mcp/blocks/${id}/run`, {})).status).toBe(200);
  }, 60_000);
});
