import { verifies } from '@behalf/testkit';
import { describe, expect } from '@jest/globals';
import { facadeOf, REDIRECT } from './facadeScene.ts';
import { startInProcess } from './inProcess.ts';

describe('clients that register themselves', () => {
  const start = (registration: object) =>
    startInProcess({}, JSON.stringify({ authorizationServer: { enabled: true, registration } }));
  const register = async (url: string) => {
    const response = await fetch(`${url}/as/reg`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: [REDIRECT] }),
    });
    await response.arrayBuffer();
    return response;
  };

  verifies('facade.registration.rate', 'a thousand in a minute are ten, and the rest wait', async () => {
    const gateway = await start({});
    try {
      const statuses: number[] = [];
      for (let batch = 0; batch < 20; batch += 1) {
        const answers = await Promise.all(Array.from({ length: 50 }, () => register(gateway.url)));
        statuses.push(...answers.map(({ status }) => status));
      }
      expect(statuses.slice(0, 50)).toContain(201);
      // What a minute gives, and what came back of it while this ran.
      expect(statuses.filter((status) => status === 201).length).toBeLessThanOrEqual(20);
      expect(new Set(statuses)).toEqual(new Set([201, 429]));
      const late = await register(gateway.url);
      expect([late.status, Number(late.headers.get('retry-after')) > 0]).toEqual([429, true]);
      // Nobody else waits for it.
      expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
    } finally {
      await gateway.close();
    }
  });

  verifies('facade.registration.cap', 'there are never more than the operator wants', async () => {
    const gateway = await start({ perMinute: 1_000, most: 3 });
    try {
      const statuses = [];
      for (let i = 0; i < 5; i += 1) statuses.push((await register(gateway.url)).status);
      expect(statuses).toEqual([201, 201, 201, 429, 429]);
    } finally {
      await gateway.close();
    }
  });

  verifies('facade.registration.off', 'where it is off, nobody does', async () => {
    const gateway = await start({ enabled: false });
    try {
      expect((await register(gateway.url)).status).toBe(404);
      const { metadata } = await facadeOf(gateway.url);
      expect(metadata).not.toHaveProperty('registration_endpoint');
    } finally {
      await gateway.close();
    }
  });
});
