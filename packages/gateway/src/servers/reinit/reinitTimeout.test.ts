import { describe, expect, test } from '@jest/globals';
import { createConnectionsRig, waitForImmediate } from '../../../test/connectionsRig.ts';
import { createToolcallRig, defineServer } from '../../../test/toolcallRig.ts';
import type { ServerSnapshot } from '../../definitions/definition.ts';
import { type ReinitParts, reinitialize } from './reinitialize.ts';

/** Reinitialisations over real pools, of whose openings the test decides. */
function rigFor(server: ServerSnapshot) {
  const rig = createToolcallRig([server]);
  const pools = createConnectionsRig();
  const failIfCalled = () => {
    throw new Error('It is asked by nobody in particular');
  };
  const parts: ReinitParts = {
    ...rig.parts,
    connections: pools.manager,
    inspectionScheduler: {
      update: () => undefined,
      getState: () => ({ kind: 'skipped' }),
      reinspect: failIfCalled,
      close: () => undefined,
    },
    open: failIfCalled,
    openWithoutSession: failIfCalled,
    signInStarter: { start: failIfCalled },
  };
  return {
    pools,
    clock: rig.clock,
    run: (options: object) => reinitialize(parts, server.name, options, rig.inbound()),
  };
}

describe('the patience of one caller', () => {
  test('callers in a hurry neither shorten an opening nor park the server for the others', async () => {
    for (const definition of [{ initTimeout: 20_000 }, { initTimeout: 20_000, startup: false }]) {
      const { pools, clock, run } = rigFor(defineServer('odd', definition));
      for (let i = 0; i < 5; i += 1) {
        const hasty = run({ connectionTimeout: 100 });
        await waitForImmediate();
        await clock.advance(100);
        expect(await hasty).toMatchObject({ failureReason: 'unreachable', code: 'MCP_TIMEOUT' });
      }
      const [opening] = pools.pendingOpens;
      expect(opening!.options.initTimeoutMs).toBe(20_000);
      expect(opening!.options.signal.aborted).toBe(false);
      expect(pools.manager.counts().breakersOpen).toBe(0);
      const patient = run({ forceNew: false });
      await waitForImmediate();
      pools.onOpen = (next) => void next.complete('legacy', { capabilities: {} });
      opening!.complete('legacy', { capabilities: {} });
      expect(await patient).toMatchObject({ success: true });
    }
  });
});
