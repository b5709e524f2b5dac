/** A record as MongoDB keeps it: the field that names it is `_id`. */
export type Stored<R, K extends keyof R> = Omit<R, K> & { _id: string };

export const requiredText = { type: String, required: true } as const;
/** Mongoose takes an empty string for a missing one; an empty name is a name. */
export const optionalText = { type: String, default: '' } as const;
export const nullableText = { type: String, default: null } as const;
export const requiredNumber = { type: Number, required: true } as const;
export const nullableNumber = { type: Number, default: null } as const;
export const requiredDate = { type: Date, required: true } as const;

/** An unknown field is a mistake in our code: it throws instead of vanishing. */
export const schemaOptions = {
  strict: 'throw',
  strictQuery: 'throw',
  versionKey: false,
  minimize: false,
} as const;
