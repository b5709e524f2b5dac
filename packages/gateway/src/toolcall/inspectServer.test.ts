import { verifies } from '@behalf/testkit';
import { describe, expect } from '@jest/globals';
import { appServer, connectionsRig } from '../../test/connectionsRig.ts';
import { toolcallRig } from '../../test/toolcallRig.ts';
import { inspectServer } from './inspectServer.ts';

describe('a look at a shared server', () => {
  verifies(
    'registry.inspection.explicit',
    'on request it passes an open breaker; in the background it waits',
    async () => {
      const pools = connectionsRig();
      const server = appServer();
      const { catalog, listAll } = toolcallRig([]).parts;
      const look = (explicit: boolean) =>
        inspectServer({ connections: pools.manager, catalog, listAll }, server, {
          signal: pools.signal,
          explicit,
        });
      pools.answer = (opening) => opening.refuse('connect_timeout');
      for (let i = 0; i < 3; i += 1)
        await expect(look(false)).rejects.toMatchObject({ reason: 'connect_timeout' });
      await expect(look(false)).rejects.toMatchObject({ reason: 'breaker_open' });
      await expect(look(true)).rejects.toMatchObject({ reason: 'connect_timeout' });
      pools.answer = (opening) => void opening.land('legacy', { capabilities: {} });
      await expect(look(true)).resolves.toMatchObject({ tools: 0 });
      await expect(look(false)).resolves.toMatchObject({ tools: 0 });
    },
  );
});
