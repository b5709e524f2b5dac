import { describe, expect, test } from '@jest/globals';
import { isTestFile, readSources } from '../tools/sources.ts';
import { findSentences, findTexts } from '../tools/webTexts.ts';

const scan = (text: string) => findTexts({ path: 'a.tsx', text }).map((line) => line.split('  ')[1]);

describe('the words of the interface', () => {
  test('stand among the strings, and no component has any of its own', () => {
    const components = readSources().filter(
      ({ path }) => path.startsWith('packages/web/src/') && path.endsWith('.tsx'),
    );
    expect(components.length).toBeGreaterThan(40);
    expect(components.flatMap(findTexts)).toEqual([]);
  });

  test('stand among the strings, and no module says a sentence of its own', () => {
    const modules = readSources().filter(
      ({ path }) =>
        path.startsWith('packages/web/src/') &&
        path.endsWith('.ts') &&
        !path.startsWith('packages/web/src/strings/') &&
        !isTestFile(path),
    );
    expect(modules.length).toBeGreaterThan(40);
    expect(modules.flatMap(findSentences)).toEqual([]);
  });

  test('are found wherever a module could say them', () => {
    const said = (text: string) => findSentences({ path: 'a.ts', text }).map((line) => line.split('  ')[1]);
    expect(said("const a = 'Not so fast';")).toEqual(['Not so fast']);
    expect(said('const a = `There are ${count} left over`;')).toEqual(['There are', 'left over']);
    expect(said("show(b ? 'All is well.' : none);")).toEqual(['All is well.']);
    expect(said("const a: 'one two' = b; throw new TypeError('only for developers');")).toEqual([]);
    expect(said("const a = 'application/json'; import 'b'; const c = ['x y', 'one', '·'];")).toEqual([]);
  });

  test('are found wherever a component could say them', () => {
    expect(scan('const a = <p>Hello</p>;')).toEqual(['Hello']);
    expect(scan('const a = <p>{"Hello"}</p>;')).toEqual(['Hello']);
    expect(scan('const a = <p>{b ? "Yes" : t.no}</p>;')).toEqual(['Yes']);
    expect(scan('const a = <p>{b && `Only ${c} left`}</p>;')).toEqual(['Only', 'left']);
    expect(scan('const a = <p>{name ?? "Nobody"}</p>;')).toEqual(['Nobody']);
    expect(scan('const a = <img alt="A cat" />;')).toEqual(['A cat']);
    expect(scan('const a = <B aria-label={`Open ${b}`} />;')).toEqual(['Open']);
    expect(scan('const a = <B label={b ? "On" : t.off} />;')).toEqual(['On']);
    expect(scan('const a = <B className="wide" kind="user">{t.title} · {count} %</B>;')).toEqual([]);
  });
});
