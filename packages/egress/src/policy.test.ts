import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { McpSettings } from '@behalf/contracts';
import fc from 'fast-check';
import { createEgressRig, OTHER_PUBLIC, PUBLIC, reasonOf, type EgressRigOptions } from '../test/rig.ts';
import { resolveEveryName, requestOutcome } from '../test/requestOutcome.ts';
import { compilePolicy, EgressPolicyError, type EgressSettings } from './index.ts';

describe('the domain list', () => {
  const allow = (...allowedDomains: string[]): EgressRigOptions => ({
    settings: { allowedDomains },
    dns: resolveEveryName([PUBLIC]),
  });

  test('a non-empty list allows its names and nothing else', async () => {
    expect(await requestOutcome('https://any.example/', allow())).toBe('dialled');
    expect(await requestOutcome('https://good.example/', allow('good.example'))).toBe('dialled');
    for (const host of [
      'evil.example',
      'xgood.example',
      'good.example.evil.example',
      'sub.good.example',
      PUBLIC,
    ]) {
      expect([host, await requestOutcome(`https://${host}/`, allow('good.example'))]).toEqual([
        host,
        'domain_not_allowed',
      ]);
    }
  });

  test('a wildcard takes the name and its subdomains, never a look-alike', async () => {
    const list = allow('*.good.example');
    for (const host of [
      'a.good.example',
      'a.b.good.example',
      'good.example',
      'A.GOOD.EXAMPLE',
      'a.good.example.',
    ]) {
      expect([host, await requestOutcome(`https://${host}/`, list)]).toEqual([host, 'dialled']);
    }
    expect(await requestOutcome('https://evilgood.example/', list)).toBe('domain_not_allowed');
  });

  test('www. is ignored on both sides, and other scripts compare encoded', async () => {
    expect(await requestOutcome('https://www.good.example/', allow('good.example'))).toBe('dialled');
    expect(await requestOutcome('https://good.example/', allow('www.good.example'))).toBe('dialled');
    expect(await requestOutcome('https://xn--bcher-kva.example/', allow('bücher.example'))).toBe('dialled');
    expect(await requestOutcome(`https://${PUBLIC}/`, allow(PUBLIC))).toBe('dialled');
    expect(await requestOutcome(`https://[${OTHER_PUBLIC}]/`, allow(`https://[${OTHER_PUBLIC}]`))).toBe(
      'dialled',
    );
  });

  test('www. behind a wildcard is a zone of its own', async () => {
    const list = allow('*.www.good.example');
    for (const host of ['a.www.good.example', 'www.good.example', 'www.www.good.example'])
      expect([host, await requestOutcome(`https://${host}/`, list)]).toEqual([host, 'dialled']);
    for (const host of ['good.example', 'a.good.example', 'api.good.example', 'xwww.good.example'])
      expect([host, await requestOutcome(`https://${host}/`, list)]).toEqual([host, 'domain_not_allowed']);
    expect(await requestOutcome('https://www.good.example/', allow('*.good.example'))).toBe('dialled');
  });

  test('scheme, host and effective port are compared', async () => {
    const cases: [entry: string, url: string, expected: string][] = [
      ['https://h.example:443', 'https://h.example/', 'dialled'],
      ['https://h.example', 'https://h.example:443/', 'dialled'],
      ['http://h.example:80', 'http://h.example/', 'dialled'],
      ['h.example:443', 'https://h.example/', 'dialled'],
      ['h.example', 'https://h.example:8443/', 'dialled'],
      ['https://h.example:8443', 'https://h.example:8443/', 'dialled'],
      ['https://h.example', 'http://h.example/', 'domain_not_allowed'],
      ['https://h.example', 'https://h.example:8443/', 'domain_not_allowed'],
      ['https://h.example:8443', 'http://h.example:8443/', 'domain_not_allowed'],
      ['https://h.example:8443', 'https://h.example/', 'domain_not_allowed'],
      ['h.example:443', 'http://h.example/', 'domain_not_allowed'],
    ];
    for (const [entry, url, expected] of cases) {
      expect([entry, url, await requestOutcome(url, allow(entry))]).toEqual([entry, url, expected]);
    }
  });

  test('an allowed name that leads into private space is refused', async () => {
    const settings = { allowedDomains: ['good.example'] };
    expect(
      await requestOutcome('https://good.example/', { settings, dns: { 'good.example': ['10.0.0.1'] } }),
    ).toBe('private_address');
    expect(await requestOutcome('https://10.0.0.1/', { settings: { allowedDomains: ['10.0.0.1'] } })).toBe(
      'private_address',
    );
  });

  test('an opened address that is not in the list is refused', async () => {
    const settings = { allowedDomains: ['good.example'], allowedAddresses: ['10.0.0.1:443'] };
    expect(await requestOutcome('https://10.0.0.1/', { settings })).toBe('domain_not_allowed');
  });

  test('an entry that cannot be read stops the start and is named', () => {
    for (const entry of [
      '',
      'a b',
      'http://',
      'ftp://h',
      'https://h/path',
      'h:0',
      'h:70000',
      '*',
      'u@h',
      '*.*.h',
      'a..b',
      'h..',
    ]) {
      expect(() => createEgressRig({ settings: { allowedDomains: [entry] } })).toThrow(EgressPolicyError);
    }
    for (const entry of [
      '10.0.0.1',
      'h',
      'h:',
      'h:0',
      '10.0.0.0/8:80',
      'http://h:80',
      'h:80/x',
      '*.h:80',
      '8.8.8.8:53',
      'a..b:80',
      'h..:80',
    ]) {
      for (const setting of ['allowedAddresses', 'operatorAddresses']) {
        expect(() => createEgressRig({ settings: { [setting]: [entry] } })).toThrow(`${setting}[0] `);
      }
    }
    expect(() => createEgressRig({ settings: { allowedAddresses: ['0.0.0.0:80'] } })).toThrow(
      EgressPolicyError,
    );
    expect(() => createEgressRig({ settings: { identityOrigins: ['https://u:secret@i.example'] } })).toThrow(
      /^(?!.*secret).*issuer/,
    );
  });

  test('the error says which entry of which setting, and not what it holds', () => {
    const thrown = (settings: EgressSettings): unknown => {
      try {
        compilePolicy(settings);
        return undefined;
      } catch (error) {
        return error;
      }
    };
    const cases: [setting: keyof EgressSettings, good: string, bad: string][] = [
      ['allowedAddresses', '10.0.0.1:80', '8.8.8.8:443'],
      ['operatorAddresses', '10.0.0.1:80', 'u:hunter2@h'],
      ['allowedDomains', 'h.example', 'https://u:hunter2@h.example'],
      ['identityOrigins', 'https://i.example', 'https://u:hunter2@i.example'],
    ];
    for (const [setting, good, bad] of cases) {
      const error = thrown({ [setting]: [good, bad] });
      expect(error).toBeInstanceOf(EgressPolicyError);
      expect(error).toMatchObject({
        path: [setting, 1],
        reason: expect.stringMatching(/^(is not|must be) /),
      });
      expect(inspect(error)).not.toContain('hunter2');
    }
  });

  test('what the schema of the file accepts, the policy takes', () => {
    const word = fc.constantFrom(
      ...['h', 'a.b', '.', '..', ':', ':80', ':0', ':70000', '*.', '*', 'http://', 'wss://', 'ftp://', '/'],
      ...['[::1]', '[', ']', '@', '-', '_', 'www.', ' ', '0x1', '%41', 'xn--', 'ü'],
    );
    let accepted = 0;
    fc.assert(
      fc.property(fc.array(word, { maxLength: 5 }), (words) => {
        const entry = words.join('');
        for (const setting of ['allowedDomains', 'allowedAddresses'] as const) {
          if (!McpSettings.safeParse({ [setting]: [entry] }).success) continue;
          accepted += 1;
          try {
            compilePolicy({ [setting]: [entry] });
          } catch (error) {
            // Which literals are private is known here alone.
            if (!/private range/.test((error as Error).message)) throw error;
          }
        }
      }),
      { numRuns: 5000 },
    );
    expect(accepted).toBeGreaterThan(100);
  });
});

describe('names', () => {
  test('internal names are refused before anything is looked up', async () => {
    const names = [
      'localhost',
      'localhost.',
      'LOCALHOST',
      'a.localhost',
      'redis',
      'vault',
      'x.internal',
      'printer.local',
    ];
    const refused = ['metadata.google.internal..', 'localhost..', 'x..internal', '.localhost', '127.0.0.1..'];
    for (const name of refused) {
      const { egress, dials, resolved } = createEgressRig({ dns: resolveEveryName([PUBLIC]) });
      const reason = await reasonOf(egress.fetchFor({ audience: 'yaml-server' })(`http://${name}/`));
      expect([name, reason, dials, resolved]).toEqual([name, 'bad_url', [], []]);
    }
    for (const name of [...names, 'metadata.google.internal', 'mcp.ns.svc.cluster.local', 'nas.home.arpa']) {
      const { egress, dials, resolved } = createEgressRig({ dns: resolveEveryName([PUBLIC]) });
      const reason = await reasonOf(egress.fetchFor({ audience: 'yaml-server' })(`http://${name}/`));
      expect([name, reason, dials, resolved]).toEqual([name, 'blocked_name', [], []]);
    }
  });

  test('an opened host:port overrides the list, on that port alone', async () => {
    const options = { settings: { allowedAddresses: ['redis:8080'] }, dns: { redis: ['172.18.0.3'] } };
    expect(await requestOutcome('http://redis:8080/', options)).toBe('dialled');
    expect(await requestOutcome('http://redis:8081/', options)).toBe('blocked_name');
  });

  test('a name is never tested as an address', async () => {
    for (const host of [
      'fcbarcelona.com',
      'fd-solutions.example',
      'fe80.example',
      '10.example',
      'localhosts.example',
    ]) {
      expect([host, await requestOutcome(`https://${host}/`, { dns: resolveEveryName([PUBLIC]) })]).toEqual([
        host,
        'dialled',
      ]);
    }
  });
});

describe('exemptions', () => {
  const at = (setting: string, ...list: string[]): EgressRigOptions => ({
    settings: { [setting]: list },
    dns: { 'mcp.corp.example': ['10.0.0.5'], 'evil.example': ['10.0.0.6'], 'alias.example': ['10.0.0.5'] },
  });

  test('host:port opens private space for everyone, on that port alone', async () => {
    const options = at('allowedAddresses', 'mcp.corp.example:8080', '10.0.0.7:80', '[fd00::7]:80');
    for (const audience of ['user-server', 'yaml-server', 'identity'] as const) {
      expect(await requestOutcome('http://mcp.corp.example:8080/', options, audience)).toBe('dialled');
      expect(await requestOutcome('http://10.0.0.7/', options, audience)).toBe('dialled');
      expect(await requestOutcome('http://[fd00:0::7]/', options, audience)).toBe('dialled');
      expect(await requestOutcome('http://[::ffff:10.0.0.7]/', options, audience)).toBe('dialled');
      expect(await requestOutcome('http://mcp.corp.example/', options, audience)).toBe('private_address');
      expect(await requestOutcome('http://10.0.0.5:8080/', options, audience)).toBe('private_address');
      expect(await requestOutcome('http://evil.example:8080/', options, audience)).toBe('private_address');
    }
  });

  test('an opened literal may be reached by a name that leads there', async () => {
    expect(await requestOutcome('http://alias.example/', at('allowedAddresses', '10.0.0.5:80'))).toBe(
      'dialled',
    );
    expect(await requestOutcome('http://evil.example/', at('allowedAddresses', '10.0.0.5:80'))).toBe(
      'private_address',
    );
  });

  test('an opened name does not open what can never be a server', async () => {
    for (const address of ['0.0.0.0', '255.255.255.255', '224.0.0.1', '2002:a00:1::1', '168.63.129.16']) {
      const options = { settings: { allowedAddresses: ['n.example:80'] }, dns: { 'n.example': [address] } };
      expect([address, await requestOutcome('http://n.example/', options)]).toEqual([
        address,
        'private_address',
      ]);
    }
  });

  test('operatorAddresses counts for servers of the YAML alone', async () => {
    const options = at('operatorAddresses', 'mcp.corp.example:80', '10.0.0.5:81', 'redis:82');
    expect(await requestOutcome('http://mcp.corp.example/', options, 'yaml-server')).toBe('dialled');
    expect(await requestOutcome('http://alias.example:81/', options, 'yaml-server')).toBe('dialled');
    for (const audience of ['user-server', 'identity'] as const) {
      expect(await requestOutcome('http://mcp.corp.example/', options, audience)).toBe('private_address');
      expect(await requestOutcome('http://alias.example:81/', options, audience)).toBe('private_address');
      expect(await requestOutcome('http://10.0.0.5:81/', options, audience)).toBe('private_address');
      expect(await requestOutcome('http://redis:82/', options, audience)).toBe('blocked_name');
    }
  });

  test("an issuer's origin is open to the identity client alone", async () => {
    const options: EgressRigOptions = {
      settings: {
        identityOrigins: ['https://login.internal:8443/realm'],
        allowedDomains: ['good.example'],
      },
      dns: { 'login.internal': ['10.0.0.9'] },
    };
    expect(await requestOutcome('https://login.internal:8443/token', options, 'identity')).toBe('dialled');
    expect(await requestOutcome('https://login.internal/token', options, 'identity')).toBe(
      'domain_not_allowed',
    );
    expect(await requestOutcome('http://login.internal:8443/', options, 'identity')).toBe(
      'domain_not_allowed',
    );
    for (const audience of ['user-server', 'yaml-server'] as const) {
      expect(await requestOutcome('https://login.internal:8443/token', options, audience)).toBe(
        'domain_not_allowed',
      );
      const open = { ...options, settings: { identityOrigins: ['https://login.internal:8443'] } };
      expect(await requestOutcome('https://login.internal:8443/token', open, audience)).toBe('blocked_name');
    }
  });

  test("a model's origin is open to the chat alone, and nothing else is", async () => {
    const modelOrigins = ['http://localhost:11434/v1', 'https://models.example'];
    const options: EgressRigOptions = {
      settings: { modelOrigins, allowedDomains: ['good.example'], allowedAddresses: ['127.0.0.1:81'] },
      dns: { localhost: ['127.0.0.1'], 'models.example': [PUBLIC], 'good.example': [PUBLIC] },
    };
    expect(await requestOutcome('http://localhost:11434/v1/models', options, 'model')).toBe('dialled');
    expect(await requestOutcome('https://models.example/any', options, 'model')).toBe('dialled');
    // Neither what servers may have, nor the same name in another way.
    for (const url of [
      'https://good.example/',
      'http://127.0.0.1:81/',
      'http://localhost/',
      'https://localhost:11434/',
      'http://models.example/',
      'http://127.0.0.1:11434/',
    ]) {
      expect([url, await requestOutcome(url, options, 'model')]).toEqual([url, 'domain_not_allowed']);
    }
    const open = { ...options, settings: { modelOrigins } };
    for (const audience of ['user-server', 'yaml-server', 'identity'] as const) {
      expect(await requestOutcome('http://localhost:11434/v1', options, audience)).toBe('domain_not_allowed');
      expect(await requestOutcome('http://localhost:11434/v1', open, audience)).toBe('blocked_name');
    }
  });

  test('a model is nowhere where nothing may be reached', async () => {
    const settings = { modelOrigins: ['http://224.0.0.1', 'http://many.example'] };
    const options: EgressRigOptions = { settings, dns: { 'many.example': ['224.0.0.1'] } };
    expect(await requestOutcome('http://224.0.0.1/v1', options, 'model')).toBe('private_address');
    expect(await requestOutcome('http://many.example/v1', options, 'model')).toBe('private_address');
    expect(() => createEgressRig({ settings: { modelOrigins: ['https://u:secret@i.example'] } })).toThrow(
      'modelOrigins[0] is not the http(s) URL of a model API, without credentials',
    );
  });
});
