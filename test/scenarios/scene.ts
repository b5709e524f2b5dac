import { scriptedHttpServer, type ScriptedHttpServer, type ScriptedOptions } from '@behalf/testkit';
import { afterEach } from '@jest/globals';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { createPeople, type Person } from './people.ts';

/** Scripted servers and a gateway before them; all of it is closed after each test. */
export interface Scene {
  serve(options: ScriptedOptions): Promise<ScriptedHttpServer>;
  /** Starts the gateway; gives people who are signed in. */
  begin(yaml: string, names?: readonly string[]): Promise<Person[]>;
  /** The one that `begin` started. */
  readonly gateway: InProcessGateway;
}

export function createScene(): Scene {
  const opened: { close(): Promise<void> }[] = [];
  let gateway: InProcessGateway | undefined;
  afterEach(async () => {
    for (const part of opened.splice(0).reverse()) await part.close();
  });
  return {
    async serve(options) {
      const server = await scriptedHttpServer(options);
      opened.push(server);
      return server;
    },
    async begin(yaml, names = ['Ada']) {
      gateway = await startInProcess({}, yaml);
      opened.push(gateway);
      return createPeople(gateway, names);
    },
    get gateway() {
      if (!gateway) throw new Error('Nothing has begun');
      return gateway;
    },
  };
}
