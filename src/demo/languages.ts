// First names, mailboxes and the names people give their tanks, by the language they do it in.

import type { UseCase } from "../domain/tank.ts";

export type Language = {
  readonly firstNames: readonly string[];
  readonly mailboxes: readonly string[];
  readonly tankNames: Readonly<Record<UseCase, readonly string[]>>;
};

/** `"a, b, c"`: long lists of words read better on one line. */
export const list = (words: string): readonly string[] => words.split(", ");

export const GERMAN: Language = {
  firstNames: list(
    "Anna, Lukas, Katharina, Jonas, Martina, Stefan, Julia, Thomas, Eva, Florian, Sabine, Matthias, Claudia, Peter",
  ),
  mailboxes: list("office, info, kontakt, verwaltung"),
  tankNames: {
    residential: list("Heizung, Gartentank, Haus, Einfahrt, Hinterhof"),
    commercial: list("Küche, Backstube, Haupttank, Gewächshaus, Gästehaus"),
    industrial: list("Halle 1, Halle 2, Ofenlinie, Kesselhaus, Trocknung, Nordseite"),
  },
};

export const FRENCH: Language = {
  firstNames: list("Camille, Hugo, Élodie, Julien, Sophie, Antoine, Claire, Mathieu, Nathalie, Pierre, Aurélie, Luc"),
  mailboxes: list("contact, info, bureau"),
  tankNames: {
    residential: list("Maison, Jardin, Chauffage, Garage"),
    commercial: list("Cuisine, Fournil, Cuve principale, Serre"),
    industrial: list("Atelier 1, Atelier 2, Chaufferie, Four, Séchoir"),
  },
};

export const ITALIAN: Language = {
  firstNames: list("Giulia, Marco, Francesca, Luca, Chiara, Andrea, Elena, Matteo, Paola, Davide, Silvia, Stefano"),
  mailboxes: list("info, ufficio, amministrazione"),
  tankNames: {
    residential: list("Casa, Giardino, Riscaldamento, Cortile"),
    commercial: list("Cucina, Forno, Serbatoio principale, Serra"),
    industrial: list("Capannone 1, Capannone 2, Caldaia, Essiccatoio"),
  },
};

export const SPANISH: Language = {
  firstNames: list("Lucía, Javier, Carmen, Pablo, Marta, Sergio, Elena, Álvaro, Pilar, Diego, Rocío, Manuel"),
  mailboxes: list("info, oficina, contacto"),
  tankNames: {
    residential: list("Casa, Jardín, Calefacción, Patio"),
    commercial: list("Cocina, Obrador, Depósito principal, Invernadero"),
    industrial: list("Nave 1, Nave 2, Sala de calderas, Horno, Secadero"),
  },
};

export const ENGLISH: Language = {
  firstNames: list("Emma, James, Olivia, William, Grace, Thomas, Hannah, Daniel, Rachel, Andrew, Megan, Robert, Laura, Scott"),
  mailboxes: list("office, info, accounts, hello"),
  tankNames: {
    residential: list("House, Back yard, Heating, Garage, Driveway"),
    commercial: list("Kitchen, Main tank, Greenhouse, Workshop, Guest house"),
    industrial: list("Hall 1, Hall 2, Boiler house, Kiln, Dryer, North side"),
  },
};
