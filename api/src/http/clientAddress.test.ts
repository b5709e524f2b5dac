import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { createClientAddressReader } from './request.ts';

describe('the address of a caller', () => {
  const from = (said: string | undefined, proxies: number) =>
    createClientAddressReader(proxies)({
      headers: said === undefined ? {} : { 'x-forwarded-for': said },
      socket: { remoteAddress: '10.0.0.1' },
    } as unknown as IncomingMessage);

  test('only as many hops are believed as there are proxies', () => {
    expect(from('1.1.1.1', 0)).toBe('10.0.0.1');
    expect(from(undefined, 1)).toBe('10.0.0.1');
    expect(from('6.6.6.6, 1.1.1.1', 1)).toBe('1.1.1.1');
    expect(from('6.6.6.6, 1.1.1.1, 10.0.0.2', 2)).toBe('1.1.1.1');
    expect(from('1.1.1.1', 5)).toBe('1.1.1.1');
    expect(from(' , ', 1)).toBe('10.0.0.1');
  });
});
