import { scriptedTasks, tasksExtension, type ScriptedHttpServer, type ScriptedTasks } from '@behalf/testkit';
import { expect } from '@jest/globals';
import { clientWith, modernRequest, wireClient, type Message, type WireClient } from './mcpClient.ts';
import type { Person } from './people.ts';
import { createScene, type Scene } from './scene.ts';
import { http, yamlWith } from './serverYaml.ts';

type Json = Readonly<Record<string, unknown>>;

/** Of a client that takes tasks. */
export const capabilities = { elicitation: {}, ...tasksExtension };
const NAMES = { '/mcp': 'files__slow', '/mcp/files': 'slow' } as const;
export type Path = keyof typeof NAMES;

export const call = (client: WireClient, path: Path = '/mcp', declared: Json = capabilities) =>
  modernRequest(client, 'tools/call', { name: NAMES[path] }, { capabilities: declared });

/** Of a task that was begun for this. */
export async function idOf(client: WireClient, path: Path = '/mcp'): Promise<string> {
  const { answer } = await call(client, path);
  expect(answer.result).toMatchObject({ resultType: 'task' });
  return String(answer.result?.['taskId']);
}

export async function ask(
  client: WireClient,
  verb: string,
  taskId: string,
  more: Json = {},
): Promise<Message> {
  return (await modernRequest(client, `tasks/${verb}`, { taskId, ...more }, { capabilities })).answer;
}

/** How often the server was asked anything of a task. */
export const tried = ({ requests }: Pick<ScriptedHttpServer, 'requests'>) =>
  requests.filter(({ message }) => message?.method?.startsWith('tasks/')).length;

/** A gateway before a server with tasks. */
export interface TaskScene extends Pick<ScriptedTasks, 'tasks' | 'responses'> {
  readonly upstream: ScriptedHttpServer;
  readonly people: Person[];
  readonly ada: Person;
  readonly at: (person: Person, path?: Path) => Promise<WireClient>;
  readonly yaml: (more?: object, settings?: object) => string;
  /** The same client at another replica. */
  readonly there: (client: WireClient) => Promise<WireClient>;
}

export function createTaskScenes(): Scene & {
  tasks(
    options?: Partial<Parameters<Scene['serve']>[0]>,
    names?: Parameters<Scene['begin']>[1],
  ): Promise<TaskScene>;
} {
  const scene = createScene();
  return Object.assign(scene, {
    async tasks(options = {}, names: Parameters<Scene['begin']>[1] = ['Ada']): Promise<TaskScene> {
      const script = scriptedTasks();
      const upstream = await scene.serve({ ...script, ...options });
      const yaml = (more: object = {}, settings: object = {}) =>
        yamlWith({ files: http(upstream.url, more) }, settings);
      const people = await scene.begin(yaml(), names);
      const { tasks, responses } = script;
      return {
        ...{ upstream, people, ada: people[0] as Person, yaml, tasks, responses },
        at: (person, path = '/mcp') => wireClient(person, scene.gateway.url, path),
        async there(client) {
          const [other] = (await scene.beside(people)) as [Person];
          const base = new URL('/', (await other.get('/health')).url).href;
          return clientWith(client.headers['authorization']!.slice(7), base, new URL(client.url).pathname);
        },
      };
    },
  });
}
