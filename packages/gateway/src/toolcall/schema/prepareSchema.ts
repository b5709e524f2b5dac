import { keywords, turnsAround, type KeywordKind } from './keywords.ts';
import { linearPattern, patternBudget, type LinearPattern } from './linearPattern.ts';
import { isOldDraft, readDraft } from './readDraft.ts';
import type { Fuel } from './fuel.ts';
import { Uncheckable } from './uncheckable.ts';

/** Serialised; a server that sends more is not describing arguments. */
const LARGEST_SCHEMA = 256 * 1024;
const DEEPEST_SCHEMA = 32;
/**
 * What the compiler has to write code for: parts, their keywords, names in lists. Each takes it some 0.05 ms, during
 * which nobody else is served. A hundred optional fields, written as a choice between a type and `null`, come to 600.
 */
const MOST_WORK = 1_000;
/** A reference is a function of its own, a pattern an automaton. */
const WORK_OF_REFERENCE = 3;
const WORK_OF_PATTERN = 10;
/** A longer list of required names is looked through in a loop; each of a shorter one becomes code of its own. */
export const LONGEST_WRITTEN_OUT = 20;
const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'null', 'array', 'object']);

/** The keyword that makes each part pay for its evaluation; no server can write it, because it is added after reading. */
export const fuelKeyword = '$behalf-fuel';

type Fields = Record<string, unknown>;

export interface PreparedSchema {
  readonly schema: Fields | boolean;
  readonly patterns: ReadonlyMap<string, LinearPattern>;
  /** A pattern was left out: the rest is checked. */
  readonly partial: boolean;
  /** It asks what other parts left unevaluated, so all of them must remember what they saw. */
  readonly remembers: boolean;
}

/**
 * A copy of a tool's schema that is safe to compile. The server is not trusted: only known keywords with values of the
 * right kind are taken over, references stay inside the document and lead to parts that pay for themselves.
 */
export function prepareSchema(source: unknown, fuel: Fuel): PreparedSchema {
  const text = JSON.stringify(source) as string | undefined;
  if (text === undefined || !isFields(source)) throw new Uncheckable('not_a_schema');
  if (text.length > LARGEST_SCHEMA) throw new Uncheckable('too_large');

  const oldDraft = isOldDraft(source);
  const budget = patternBudget();
  const patterns = new Map<string, LinearPattern>();
  const places = new Set<string>();
  const references: string[] = [];
  const found = { lost: false, turnsAround: false, remembers: false };
  let workLeft = MOST_WORK;

  const work = (amount: number) => {
    workLeft -= amount;
    if (workLeft < 0) throw new Uncheckable('too_many_parts');
  };
  const usePattern = (pattern: string) => {
    if (patterns.has(pattern)) return;
    work(WORK_OF_PATTERN);
    patterns.set(pattern, linearPattern(pattern, budget, fuel));
  };

  function part(value: unknown, place: string, depth: number): Fields | boolean {
    work(1);
    if (typeof value === 'boolean') return value;
    if (!isFields(value)) throw new Uncheckable('not_a_schema');
    if (depth > DEEPEST_SCHEMA) throw new Uncheckable('too_deep');
    places.add(place);
    const { $id, id } = value;
    // A document inside the document: its references would count from elsewhere. Our own root needs no name.
    if (place !== '#' && (typeof $id === 'string' || (oldDraft && typeof id === 'string'))) {
      throw new Uncheckable('unknown_reference');
    }
    const copy: Fields = {};
    let weight = 1;
    for (const [name, given] of Object.entries(readDraft(value, oldDraft))) {
      const kind = keywords.get(name);
      if (kind === undefined || given === undefined) continue;
      if (turnsAround.has(name)) found.turnsAround = true;
      if (name === 'unevaluatedProperties' || name === 'unevaluatedItems') found.remembers = true;
      work(1);
      const read = keyword(name, kind, given, `${place}/${name}`, depth);
      if (read === undefined) continue;
      copy[name] = read;
      weight += entriesIn(read, kind);
    }
    copy[fuelKeyword] = weight;
    return copy;
  }

  function keyword(name: string, kind: KeywordKind, given: unknown, place: string, depth: number): unknown {
    switch (kind) {
      case 'schema':
        return part(given, place, depth + 1);
      case 'schemas':
        return nonEmpty(listOf(given)).map((one, index) => part(one, `${place}/${index}`, depth + 1));
      case 'schemaMap':
        return mapOf(given, (one, key) => {
          if (name === 'patternProperties') usePattern(key);
          return part(one, `${place}/${pointer(key)}`, depth + 1);
        });
      case 'pattern':
        if (typeof given !== 'string') throw new Uncheckable('not_a_schema');
        try {
          usePattern(given);
        } catch (error) {
          if (!(error instanceof Uncheckable && error.reason === 'pattern')) throw error;
          // The rest of the schema is still worth checking, unless leaving this out turns a yes into a no.
          found.lost = true;
          return undefined;
        }
        return given;
      case 'reference':
        if (typeof given !== 'string') throw new Uncheckable('not_a_schema');
        // Nothing is ever fetched: a reference is an address that the server chose.
        if (!given.startsWith('#')) throw new Uncheckable('remote_reference');
        work(WORK_OF_REFERENCE);
        references.push(given);
        return given;
      case 'anchor':
        if (typeof given !== 'string' || !/^[A-Za-z_][\w.-]*$/.test(given))
          throw new Uncheckable('not_a_schema');
        places.add(`#${given}`);
        return given;
      default: {
        const read = plain(kind, given);
        if (kind === 'nameLists') work(entriesIn(read, kind));
        if (kind === 'names') work(Math.min(entriesIn(read, kind), LONGEST_WRITTEN_OUT));
        return read;
      }
    }
  }

  const schema = part(source, '#', 1);
  if (found.lost && found.turnsAround) throw new Uncheckable('pattern');
  // Elsewhere, inside an `enum` say, stands what was not prepared: it would be evaluated without paying.
  if (!references.every((reference) => places.has(decoded(reference))))
    throw new Uncheckable('unknown_reference');
  return { schema, patterns, partial: found.lost, remembers: found.remembers };
}

/** Values without schemas inside. A value of the wrong kind is no schema; the compiler would write it into code. */
function plain(kind: KeywordKind, given: unknown): unknown {
  switch (kind) {
    case 'type':
      if (!(Array.isArray(given) ? given : [given]).every((one) => TYPES.has(one as string))) break;
      return Array.isArray(given) ? [...new Set(given)] : given;
    case 'number':
      if (typeof given !== 'number' || !Number.isFinite(given)) break;
      return given;
    case 'count':
      if (!Number.isSafeInteger(given) || (given as number) < 0) break;
      return given;
    case 'flag':
      if (typeof given !== 'boolean') break;
      return given;
    case 'names':
      return names(given);
    case 'nameLists':
      return mapOf(given, names);
    case 'values':
      return nonEmpty(listOf(given));
    default:
      return given;
  }
  throw new Uncheckable('not_a_schema');
}

function names(given: unknown): string[] {
  const list = listOf(given);
  if (!list.every((one) => typeof one === 'string')) throw new Uncheckable('not_a_schema');
  return [...new Set(list)];
}

function listOf(given: unknown): unknown[] {
  if (!Array.isArray(given)) throw new Uncheckable('not_a_schema');
  return given;
}

function nonEmpty<T>(list: T[]): T[] {
  if (list.length === 0) throw new Uncheckable('not_a_schema');
  return list;
}

function mapOf(given: unknown, read: (value: unknown, key: string) => unknown): Fields {
  if (!isFields(given)) throw new Uncheckable('not_a_schema');
  const entries = Object.entries(given).filter(([key]) => key !== '__proto__');
  return Object.fromEntries(entries.map(([key, value]) => [key, read(value, key)]));
}

function entriesIn(read: unknown, kind: KeywordKind): number {
  if (kind === 'nameLists') return Object.entries(read as Fields).flat(2).length;
  if (kind === 'schema') return 1;
  if (Array.isArray(read)) return read.length;
  return isFields(read) ? Object.keys(read).length : 1;
}

function pointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** As the places are written: a fragment may percent-encode what a pointer holds (RFC 6901, section 6). */
function decoded(reference: string): string {
  try {
    return decodeURIComponent(reference);
  } catch {
    throw new Uncheckable('unknown_reference');
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
