import type { Mutant } from '../mutants.ts';

const trust = 'packages/gateway/src/access/oboTrust.ts';
const author = 'packages/gateway/src/access/oboTrustAuthor.ts';

export const oboAuthor: readonly Mutant[] = [
  {
    id: 'obo.author.max-age',
    file: trust,
    find: 'return timeLeft > 0;',
    replace: 'return timeLeft >= 0;',
  },
  {
    id: 'obo.author.max-age',
    file: author,
    find: "if (roleSource === 'manual') return Infinity;",
    replace: "if (roleSource === 'manual' || roleConfirmedAt === null) return Infinity;",
  },
  {
    id: 'obo.author.max-age',
    file: author,
    find: "      if (roleSource === 'manual') return Infinity;\n",
    replace: '',
  },
  {
    id: 'obo.author.max-age',
    file: author,
    find: 'roleConfirmedAt === null || roleConfirmedAt > now + SKEW_MS',
    replace: 'roleConfirmedAt === null',
  },
  {
    id: 'obo.author.max-age',
    file: author,
    find: 'roleConfirmedAt === null || roleConfirmedAt > now + SKEW_MS',
    replace: 'roleConfirmedAt === null || roleConfirmedAt > now',
  },
  {
    id: 'obo.author.confirmed',
    file: trust,
    find: 'if (entry && !isDated(entry)) return',
    replace: 'if (entry) return',
  },
  {
    id: 'obo.author.confirmed',
    file: trust,
    find: 'authors.timeLeft(editor) <= 0 && clock.now() - readAt >= STALENESS_MS',
    replace: 'authors.timeLeft(editor) <= 0',
  },
  {
    id: 'obo.author.warned',
    file: author,
    find: 'if (timeLeft > warnedBeforeMs) return;',
    replace: 'if (timeLeft > 0) return;',
  },
  {
    id: 'obo.author.warned',
    file: author,
    find: 'Math.min(WARNED_BEFORE_MS, authorMaxAgeMs / 4)',
    replace: 'WARNED_BEFORE_MS',
  },
  {
    id: 'obo.author.warned',
    file: author,
    find: 'last?.event === event && now - last.at < DAY_MS',
    replace: 'last?.event === event',
  },
  {
    id: 'obo.author.warned',
    file: author,
    find: 'last?.event === event && now - last.at < DAY_MS',
    replace: 'last && now - last.at < 3 * DAY_MS',
  },
  {
    id: 'obo.author.warned',
    file: author,
    find: 'if (!isNews(id, event)) return;',
    replace: 'isNews(id, event);',
  },
  {
    id: 'obo.author.warned',
    file: trust,
    find: "    if (!roles.roleHas(tenant, editor.role, 'CONFIGURE_OBO')) return false;\n    const timeLeft = authors.timeLeft(editor);\n    authors.watch(editor, server, timeLeft);\n",
    replace:
      "    const timeLeft = authors.timeLeft(editor);\n    authors.watch(editor, server, timeLeft);\n    if (!roles.roleHas(tenant, editor.role, 'CONFIGURE_OBO')) return false;\n",
  },
  {
    id: 'obo.author.late',
    file: trust,
    find: '    reading.delete(id);\n',
    replace: '',
  },
  {
    id: 'obo.author.late',
    file: trust,
    find: 'within(clock, STALENESS_MS, ask(by, server), () => false)',
    replace: 'within(clock, STALENESS_MS, ask(by, server), () => true)',
  },
  {
    id: 'obo.author.late',
    file: trust,
    find: 'if (under && readAt - under.readAt < STALENESS_MS) return under.done;',
    replace: 'if (under) return under.done;',
  },
  {
    id: 'obo.author.one-read',
    file: trust,
    find: 'if (under && readAt - under.readAt < STALENESS_MS) return under.done;',
    replace: '',
  },
];
