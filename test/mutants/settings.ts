import type { Mutant } from '../mutants.ts';

export const settings: readonly Mutant[] = [];
