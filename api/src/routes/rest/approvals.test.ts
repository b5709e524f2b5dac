import { type Approvals, GatewayError, type UserPrincipal } from '@behalf/gateway';
import { systemRandom } from '@behalf/kernel';
import { describe, expect, test } from '@jest/globals';
import type { Request, Response } from 'express';
import { createProblemMap } from '../../http/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { approvalRoutes } from './approvals.ts';

const caller = { kind: 'user', userId: 'u-ada', tenant: 'default' } as UserPrincipal;
const waiting = {
  id: 'one',
  approved: false,
  serverId: 'tracker-id',
  revision: 'r1',
  server: 'tracker',
  tool: 'create_issue',
  toolHash: 'a hash of the tool',
  argsHash: 'a hash of the arguments',
  argumentNames: ['title'],
  expiresAt: 17,
};

function rig() {
  const decided: unknown[] = [];
  const approvals: Pick<Approvals, 'decide' | 'pending'> = {
    decide: async (...decision) => void decided.push(decision),
    pending: async () => [waiting],
  };
  const routes = approvalRoutes({ approvals, requirePermission: () => () => undefined });
  const answers: unknown[] = [];
  const send = async (method: string, request: object) => {
    const route = routes.find((one) => one.method === method);
    if (route?.access !== 'signed-in') throw new Error('There is no such route');
    const response = { json: (body: unknown) => answers.push(body) } as unknown as Response;
    await route.handle(request as Request, response, caller);
    return answers.at(-1);
  };
  return { routes, decided, send };
}

describe('the routes of approvals', () => {
  test('a user sees what waits, by names, and no hash', async () => {
    expect(await rig().send('get', {})).toEqual({
      approvals: [
        { id: 'one', server: 'tracker', tool: 'create_issue', arguments: ['title'], expiresAt: 17 },
      ],
    });
  });

  test('a decision is a plain yes or no of the caller', async () => {
    const { send, decided } = rig();
    expect(await send('post', { params: { id: 'one' }, body: { approve: true } })).toEqual({
      id: 'one',
      approved: true,
    });
    expect(await send('post', { params: { id: 'one' }, body: { approve: false } })).toEqual({
      id: 'one',
      approved: false,
    });
    for (const body of [undefined, {}, { approve: 'true' }, { approve: 1 }, { approve: true, all: true }]) {
      await expect(send('post', { params: { id: 'one' }, body })).rejects.toMatchObject({
        code: 'REQUEST_INVALID',
      });
    }
    expect(decided).toEqual([
      [caller, 'one', true],
      [caller, 'one', false],
    ]);
  });

  test('no API key opens the door where one approves', () => {
    const doors = rig().routes.map((route) => [
      route.method,
      route.path,
      route.access,
      route.access === 'public' ? '' : route.scope,
    ]);
    expect(doors).toEqual([
      ['get', '/api/mcp/approvals', 'signed-in', 'mcp'],
      ['post', '/api/mcp/approvals/:id', 'signed-in', 'none'],
    ]);
  });

  test('the answer to a call that asks first names the approval', () => {
    const toProblem = createProblemMap({ random: systemRandom, logger: {} as Logger });
    const approval = { id: 'one', expiresAt: 17 };
    const { problem } = toProblem(new GatewayError('MCP_APPROVAL_REQUIRED', { approval }));
    expect(problem).toMatchObject({ status: 409, code: 'MCP_APPROVAL_REQUIRED', approval });
    expect(toProblem(new GatewayError('NOT_FOUND')).problem).not.toHaveProperty('approval');
  });
});
