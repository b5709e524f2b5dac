import type { Mutant } from '../mutants.ts';

const mutant = (id: string, file: string, find: string, replace: string): Mutant => ({
  ...{ id: `live.${id}`, file: `${file}.ts`, find, replace },
});
const connections = 'packages/gateway/src/connections';
const redact = 'packages/settings/src/redact';

/** What an administrator is shown, and what they must not be. */
export const live: readonly Mutant[] = [
  mutant('admin-only', 'api/src/admin/config', '      requireOperator(caller);\n', '      void caller;\n'),
  mutant('admin-only', 'api/src/admin/connections', "access: 'admin',", "access: 'signed-in',"),
  mutant('admin-only', 'api/src/admin/stats', "access: 'admin',", "access: 'signed-in',"),

  // Other tenants.
  mutant(
    'connections.tenant',
    'packages/gateway/src/principal/isOfTenant',
    '`[${JSON.stringify(tenant)},`',
    '`["${tenant}`',
  ),
  mutant(
    'connections.tenant',
    `${connections}/describeConnections`,
    'if (!tally || !concerns(principal)) continue;',
    'if (!tally) continue;',
  ),
  mutant(
    'connections.tenant',
    `${connections}/describeConnections`,
    'if (concerns(failure.principal)) byRevision',
    'byRevision',
  ),
  mutant(
    'connections.tenant',
    `${connections}/describeConnections`,
    'if (retryAt === undefined || !concerns(subject.principal)) continue;',
    'if (retryAt === undefined) continue;',
  ),
  mutant(
    'connections.tenant',
    'api/src/admin/connections',
    'isOthersToo && !isOperator(caller) ? undefined',
    'isOthersToo && caller.role === "" ? undefined',
  ),
  mutant(
    'connections.tenant',
    'api/src/admin/connections',
    "const isCommon = server.scope === 'app' || open.stateless > 0;",
    'const isCommon = open.stateless > 0;',
  ),
  mutant(
    'connections.tenant',
    'api/src/admin/connections',
    '...(isOperator(caller) && { stateless',
    '...({ stateless',
  ),
  mutant(
    'stats.tenant',
    'api/src/admin/stats',
    'history.read(caller.tenant, range)',
    "history.read('acme', range)",
  ),
  mutant('stats.operator', 'api/src/admin/stats', '...(isOperator(caller) && {', '...({'),
  mutant(
    'stats.operator',
    'api/src/admin/isOperator',
    'isAdmin(caller) && caller.tenant === DEFAULT_TENANT',
    'isAdmin(caller)',
  ),
  mutant(
    'user.own',
    'api/src/admin/isOperator',
    'isAdmin(caller) && caller.tenant === DEFAULT_TENANT',
    'caller.tenant === DEFAULT_TENANT',
  ),
  mutant(
    'user.own',
    'api/src/rest/user/user',
    'roles.permits(caller, permission)',
    'caller.role !== permission',
  ),

  // Failures.
  mutant('since', `${connections}/openFailures`, 'failures.get(key)?.since ?? at', 'at'),
  mutant('since', `${connections}/connectionManager`, 'Math.min(since, failure?.since ?? since)', 'since'),
  mutant(
    'since',
    `${connections}/breakers`,
    'entry.at = now;',
    'Object.assign(entry, { since: now, at: now });',
  ),
  mutant(
    'since',
    'packages/gateway/src/reinit/serverStatus',
    '{ since: Math.min(...begun) }',
    '{ since: Math.max(...begun) }',
  ),
  mutant(
    'connections.described',
    `${connections}/describeConnections`,
    'isOpen ? tally.troubles.filter(countsWhileOpen) : tally.troubles',
    'tally.troubles',
  ),
  mutant(
    'connections.described',
    `${connections}/describeConnections`,
    'trouble.at > latest.at ? trouble : latest',
    'trouble.at > latest.at ? latest : trouble',
  ),

  // Numbers.
  mutant('stats.buckets', 'api/src/ops/callRing', 'counts.fill(0, start, start + WIDTH);', ''),
  mutant('stats.buckets', 'api/src/ops/callRing', 'stamps[place] === slot ? counts', 'place >= 0 ? counts'),
  mutant(
    'stats.buckets',
    'api/src/ops/callRing',
    'slot = last - slots + 1; slot <= last',
    'slot = last - slots; slot < last',
  ),
  mutant('stats.bounded', 'api/src/ops/callHistory', 'hasRoom(known, now) ? wanted : OTHERS', 'wanted'),
  mutant('stats.bounded', 'api/src/ops/callHistory', 'if (total >= limits.total) makeRoomForAll();', ''),
  mutant(
    'stats.bounded',
    'api/src/ops/callHistory',
    'if (!oldest || now < tenant.fullUntil) return false;',
    '',
  ),
  mutant(
    'stats.quantiles',
    'api/src/ops/latencyBuckets',
    'const lower = latencyBounds[bucket - 1] ?? 0;',
    'const lower = 0;',
  ),

  // Secrets.
  mutant(
    'config.redacted',
    `${redact}/redactConfig`,
    '(rules[key] ?? masked) : masked)',
    '(rules[key] ?? shown) : shown)',
  ),
  mutant(
    'config.redacted',
    `${redact}/redactConfig`,
    'clientSecret: secret,\n  parameters',
    'clientSecret: shown,\n  parameters',
  ),
  mutant(
    'config.redacted',
    `${redact}/redactConfig`,
    "all(each(secret), 'headers'",
    "all(each(address), 'headers'",
  ),
  mutant(
    'config.redacted',
    `${redact}/references`,
    "fallback.text === '' ? '' : secretMask",
    'fallback.text',
  ),
  mutant('config.redacted', `${redact}/references`, 'reserved.test(text) || ', ''),
  mutant('config.redacted', `${redact}/maskAddress`, "authority.lastIndexOf('@')", "authority.indexOf('#')"),
  mutant('config.redacted', `${redact}/maskAddress`, " || marked.text.includes('\\\\')", ''),
  mutant('config.redacted', `${redact}/maskAddress`, "/[^/]@/.test(parts?.[3] ?? '')", 'false'),
  mutant('config.redacted', `${redact}/maskAddress`, '(.*[^=].*)$/s', '(.*)$/s'),
  mutant('config.redacted', `${redact}/maskAddress`, '`#${maskLiterals(fragment)}`', '`#${fragment}`'),
  mutant('config.redacted', `${redact}/maskArguments`, 'if (isAnnounced(flag))', 'if (flag === "")'),
  mutant(
    'config.redacted',
    `${redact}/maskArguments`,
    'if (text.split(/[/=@]/).some(looksRandom)) return false;',
    '',
  ),
  mutant(
    'config.environment',
    'api/src/admin/shownEnvironment',
    'isAddress(type) ? CONNECTION.exec(value) : null',
    'CONNECTION.exec(value)',
  ),
  mutant('config.environment', 'api/src/admin/shownEnvironment', '(\\?[^@]*)?$/i', '(\\?.*)?$/i'),
  mutant(
    'config.environment',
    'api/src/admin/shownEnvironment',
    'isSecret ? shownSecret : shownValue',
    'shownValue',
  ),
];
