import { expect } from '@jest/globals';
import type { GrantRig, GrantRigOptions } from './grantRig.ts';
import type { CallBody, TestUser } from './users.ts';

/** A scene in which the first of its people is signed in at the server, and has its tools. */
export type SignedInRig = GrantRig & { readonly ada: TestUser };

export async function createSignedInRig(
  createRig: (options?: GrantRigOptions) => Promise<GrantRig>,
  options?: GrantRigOptions,
): Promise<SignedInRig> {
  const rig = await createRig(options);
  const [ada] = rig.users as [TestUser];
  expect((await rig.connectUser(ada)).pathname).toBe('/oauth/success');
  await ada.call('notes', 'echo');
  return { ...rig, ada };
}

/** What a result says about a sign-in that is needed. */
export const readAuthMeta = ({ _meta }: CallBody) =>
  _meta?.['behalf/auth'] as Record<string, unknown> | undefined;

/** The requests of this method that were let in. */
export const servedRequests = ({ mcp }: GrantRig, method = 'tools/call') =>
  mcp.guardedRequests.filter(
    ({ request, status }) => request.message?.method === method && status === 'served',
  );

export const lastServedToken = (rig: GrantRig) => servedRequests(rig).at(-1)?.bearer ?? '';
