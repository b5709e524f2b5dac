import type { Problem } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { ApiError } from './request.ts';
import { fieldErrorText, hasOnlyFieldErrors } from './explain.ts';

const refused = (...paths: string[]) =>
  new ApiError({
    ...{ code: 'REQUEST_INVALID', status: 400, title: 'not valid', detail: '' },
    problem: { errors: paths.map((path) => ({ path, code: 'c', message: `wrong ${path}` })) } as Problem,
  });

describe('errors at fields', () => {
  test('stand at the field they name', () => {
    expect(fieldErrorText(refused('name'), 'name')).toBe('Wrong name.');
    expect(fieldErrorText(refused('name'), 'days')).toBeUndefined();
    expect(fieldErrorText(new Error('other'), 'name')).toBeUndefined();
  });

  test('are said elsewhere unless all of them have a field', () => {
    expect(hasOnlyFieldErrors(refused('name'), ['name'])).toBe(true);
    expect(hasOnlyFieldErrors(refused('name', 'x'), ['name'])).toBe(false);
    expect(hasOnlyFieldErrors(refused(), ['name'])).toBe(false);
    expect(hasOnlyFieldErrors(null, ['name'])).toBe(false);
  });
});
