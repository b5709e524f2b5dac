import { describe, expect, test } from '@jest/globals';
import { connectionsRig, turn } from '../../test/connectionsRig.ts';
import { define, toolcallRig } from '../../test/toolcallRig.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import { reinitialize, type ReinitParts } from './reinitialize.ts';

/** Reinitialisations over real pools, of whose openings the test decides. */
function rigFor(server: ServerSnapshot) {
  const rig = toolcallRig([server]);
  const pools = connectionsRig();
  const nobody = () => {
    throw new Error('It is asked by nobody in particular');
  };
  const parts: ReinitParts = {
    ...rig.parts,
    connections: pools.manager,
    inspection: {
      update: () => undefined,
      getState: () => ({ kind: 'skipped' }),
      reinspect: nobody,
      close: () => undefined,
    },
    open: nobody,
    openWithoutSession: nobody,
    signInStarter: { start: nobody },
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
      const { pools, clock, run } = rigFor(define('odd', definition));
      for (let i = 0; i < 5; i += 1) {
        const hasty = run({ connectionTimeout: 100 });
        await turn();
        await clock.advance(100);
        expect(await hasty).toMatchObject({ failureReason: 'unreachable', code: 'MCP_TIMEOUT' });
      }
      const [opening] = pools.openings;
      expect(opening!.options.initTimeoutMs).toBe(20_000);
      expect(opening!.options.signal.aborted).toBe(false);
      expect(pools.manager.counts().breakersOpen).toBe(0);
      const patient = run({ forceNew: false });
      await turn();
      pools.answer = (next) => void next.land('legacy', { capabilities: {} });
      opening!.land('legacy', { capabilities: {} });
      expect(await patient).toMatchObject({ success: true });
    }
  });
});
