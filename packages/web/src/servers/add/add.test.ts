import { describe, expect, test } from '@jest/globals';
import { emptyForm } from '../form/serverForm.ts';
import { clearDiscovery, loadDiscovery, saveDiscovery, toInitialForm } from './discoveryResult.ts';

const at = { url: 'https://tools.test/mcp', type: 'sse' } as const;
const tools = { outcome: 'tools' as const, tools: [] };

describe('the details of a server that was found', () => {
  test('begin with its address, and with what it was asked with', () => {
    expect(toInitialForm(at, undefined)).toEqual({ form: { ...emptyForm, ...at } });
    expect(toInitialForm(at, { auth: { type: 'none' }, view: tools })).toEqual({
      form: { ...emptyForm, ...at },
    });
    const key = { type: 'key', authorization_type: 'custom', custom_header: 'X-A', key: 'k' } as const;
    expect(toInitialForm(at, { auth: key, view: tools }).form).toMatchObject({
      ...{ auth: 'apiKey', apiKey: { source: 'admin', form: 'custom', customHeader: 'X-A', key: 'k' } },
    });
  });

  test('take along a sign-in that the server took, and no other', () => {
    const auth = { type: 'draft', draftId: 'd1' } as const;
    expect(toInitialForm(at, { auth, view: tools })).toMatchObject({ form: { auth: 'oauth' }, draft: 'd1' });
    const view = { outcome: 'credential_rejected', hint: 'scopes', wantedScopes: 'a b' } as const;
    const refused = toInitialForm(at, { auth, view });
    expect(refused).toMatchObject({ form: { auth: 'oauth', oauth: { scope: 'a b' } } });
    expect(refused).not.toHaveProperty('draft');
  });
});

describe('what waits for a sign-in that leaves the page', () => {
  function storage(): Storage {
    const stored = new Map<string, string>();
    return {
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (key: string, value: string) => void stored.set(key, value),
      removeItem: (key: string) => void stored.delete(key),
    } as unknown as Storage;
  }

  test('is read until it was taken up, and holds what it must alone', () => {
    const one = storage();
    const stored = { ...at, draftId: 'd1' };
    saveDiscovery(stored, () => one);
    expect([loadDiscovery(() => one), loadDiscovery(() => one)]).toEqual([stored, stored]);
    expect(one.getItem('behalf.discovery')).toBe(JSON.stringify(stored));
    clearDiscovery(() => one);
    expect(loadDiscovery(() => one)).toBeUndefined();
  });

  test('is nothing where it cannot be read', () => {
    for (const text of [
      '',
      '[]',
      '{',
      '{"url":1,"type":"sse","draftId":"d"}',
      '{"url":"u","type":"stdio","draftId":"d"}',
    ]) {
      const one = storage();
      one.setItem('behalf.discovery', text);
      expect([text, loadDiscovery(() => one)]).toEqual([text, undefined]);
    }
    const refused = () => {
      throw new Error('no storage');
    };
    expect(loadDiscovery(refused)).toBeUndefined();
    expect(() => clearDiscovery(refused)).not.toThrow();
  });
});
