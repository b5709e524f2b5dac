import { expect } from '@jest/globals';
import type { GrantScene, GrantSceneOptions } from './grantScene.ts';
import type { CallBody, Person } from './people.ts';

/** A scene in which the first of its people is signed in at the server, and has its tools. */
export type SignedIn = GrantScene & { readonly ada: Person };

export async function signedIn(
  scenes: (options?: GrantSceneOptions) => Promise<GrantScene>,
  options?: GrantSceneOptions,
): Promise<SignedIn> {
  const scene = await scenes(options);
  const [ada] = scene.people as [Person];
  expect((await scene.connect(ada)).pathname).toBe('/oauth/success');
  await ada.call('notes', 'echo');
  return { ...scene, ada };
}

/** What a result says about a sign-in that is needed. */
export const authOf = ({ _meta }: CallBody) => _meta?.['behalf/auth'] as Record<string, unknown> | undefined;

/** The requests of this method that were let in. */
export const served = ({ mcp }: GrantScene, method = 'tools/call') =>
  mcp.guardedRequests.filter(
    ({ request, status }) => request.message?.method === method && status === 'served',
  );

export const lastToken = (scene: GrantScene) => served(scene).at(-1)?.bearer ?? '';
