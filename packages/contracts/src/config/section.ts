import { z } from 'zod';

/**
 * A mapping of ours: a key that is not listed is an error, because a misspelt key that vanishes disables a feature
 * without a word. zod itself only drops such keys; `checkKeys` reports them, so that comments (`x-...`) stay possible and a
 * migration can ask for warnings instead.
 */
export function section<S extends z.ZodRawShape>(shape: S): z.ZodObject<S> {
  return z.object(shape).meta({ keys: 'closed' });
}

/** A mapping that belongs to LibreChat and that we read in part: other keys are named as unused, never refused. */
export function openSection<S extends z.ZodRawShape>(shape: S): z.ZodObject<S> {
  return z.object(shape).meta({ keys: 'open' });
}

/** A key LibreChat has and Behalf has no use for. */
export function unusedKey(description: string): z.ZodOptional<z.ZodUnknown> {
  return z.unknown().optional().meta({ unused: true, description });
}
