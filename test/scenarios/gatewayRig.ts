import type { Clock } from '@behalf/kernel';
import { scriptedHttpServer, type ScriptedHttpServer, type ScriptedOptions } from '@behalf/testkit';
import { afterEach } from '@jest/globals';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { createUsers, connectUser, type TestUser } from './users.ts';

/** Scripted servers and a gateway before them; all of it is closed after each test. */
export interface GatewayRig {
  startServer(options: ScriptedOptions): Promise<ScriptedHttpServer>;
  /** Starts the gateway; gives people who are signed in. */
  start(yaml: string, names?: Parameters<typeof createUsers>[1], clock?: Clock): Promise<TestUser[]>;
  /** Starts another gateway over the same data and settings; gives the same people there. */
  startReplica(users: readonly TestUser[]): Promise<TestUser[]>;
  /** The one that `begin` started. */
  readonly gateway: InProcessGateway;
}

export function createGatewayRig(): GatewayRig {
  const disposables: { close(): Promise<void> }[] = [];
  let gateway: InProcessGateway | undefined;
  let startedYaml = '';
  afterEach(async () => {
    for (const disposable of disposables.splice(0).reverse()) await disposable.close();
  });
  return {
    async startServer(options) {
      const server = await scriptedHttpServer(options);
      disposables.push(server);
      return server;
    },
    async start(yaml, names = ['Ada'], clock) {
      gateway = await startInProcess({}, yaml, clock);
      disposables.push(gateway);
      startedYaml = yaml;
      return createUsers(gateway, names);
    },
    async startReplica(users) {
      const replica = await startInProcess({ BEHALF_DATA_DIR: this.gateway.dataDir }, startedYaml);
      disposables.push(replica);
      return users.map(({ id, cookie }) =>
        connectUser(replica.url, id, cookie.slice(cookie.indexOf('=') + 1)),
      );
    },
    get gateway() {
      if (!gateway) throw new Error('Nothing has begun');
      return gateway;
    },
  };
}
