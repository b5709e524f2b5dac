import type { Clock } from '@behalf/kernel';
import { scriptedHttpServer, type ScriptedHttpServer, type ScriptedOptions } from '@behalf/testkit';
import { afterEach } from '@jest/globals';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { createPeople, person, type Person } from './people.ts';

/** Scripted servers and a gateway before them; all of it is closed after each test. */
export interface Scene {
  serve(options: ScriptedOptions): Promise<ScriptedHttpServer>;
  /** Starts the gateway; gives people who are signed in. */
  begin(yaml: string, names?: Parameters<typeof createPeople>[1], clock?: Clock): Promise<Person[]>;
  /** Starts another gateway over the same data and settings; gives the same people there. */
  beside(people: readonly Person[]): Promise<Person[]>;
  /** The one that `begin` started. */
  readonly gateway: InProcessGateway;
}

export function createScene(): Scene {
  const opened: { close(): Promise<void> }[] = [];
  let gateway: InProcessGateway | undefined;
  let begun = '';
  afterEach(async () => {
    for (const part of opened.splice(0).reverse()) await part.close();
  });
  return {
    async serve(options) {
      const server = await scriptedHttpServer(options);
      opened.push(server);
      return server;
    },
    async begin(yaml, names = ['Ada'], clock) {
      gateway = await startInProcess({}, yaml, clock);
      opened.push(gateway);
      begun = yaml;
      return createPeople(gateway, names);
    },
    async beside(people) {
      const other = await startInProcess({ BEHALF_DATA_DIR: this.gateway.dataDir }, begun);
      opened.push(other);
      return people.map(({ id, cookie }) => person(other.url, id, cookie.slice(cookie.indexOf('=') + 1)));
    },
    get gateway() {
      if (!gateway) throw new Error('Nothing has begun');
      return gateway;
    },
  };
}
